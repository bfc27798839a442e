// SPDX-License-Identifier: BSD-2-Clause
// Asks for the data every 3 s while the page is visible, and shows it.
import { Plot } from "/web/plots.js";
import { Details } from "/web/details.js";
import { showFindings, showLosses, showProcesses } from "/web/tables.js";
import { bandwidth, bytes, fill, rate, seconds, share } from "/web/text.js";

const PERIOD_MS = 3000;
const PLOTS = [["Memory", "memory_bytes", bytes], ["Launches", "launches_per_second", rate],
	["Copied bytes", "copied_bytes_per_second", bandwidth],
	["Time in waits, of all threads", "waiting", share],
	["Proved idle time of its GPU, latest minute", "proved_idle", share]];

const plots = PLOTS.map(([title, key, form]) =>
	({ key, plot: new Plot(document.getElementById("plots"), title, form) }));
let details = null;
let overview = null; // the latest one

async function ask(path) {
	const answer = await fetch(`/api/v1/${path}`, { cache: "no-store" });

	if (answer.status === 404)
		return null;
	if (!answer.ok)
		throw new Error(await answer.text());
	return answer.json();
}

function close() {
	details = null;
	document.getElementById("details").hidden = true;
	showProcesses(overview, null, choose);
}

function choose(id) {
	details = new Details(id, close);
	showProcesses(overview, id, choose);
	askDetails();
}

async function askDetails() {
	const asked = details;
	let process;

	try {
		process = await ask(`processes/${asked.id}`);
	} catch (error) {
		showProblem(error);
		return;
	}
	if (details !== asked)
		return;
	if (process)
		asked.show(process, overview);
	else
		asked.showGone();
}

function labelOf(process, key) {
	const least = key === "memory_bytes" && process.memory_at_least ? ", at least" : "";

	return `${process.comm} (${process.pid})${least}`;
}

function showHistory(history) {
	for (const { key, plot } of plots)
		plot.show(history.times, history.processes.map((process) => ({ key: process.id,
			label: labelOf(process, key), values: process[key] })));
	if (!history.profile)
		plots.at(-1).plot.rest.textContent =
			"unknown: start gpuprobe with --verdict to prove idle time";
}

function showWatched() {
	const time = overview.watched_seconds === null ? "" :
		`, for ${seconds(overview.watched_seconds)} so far`;

	fill("watched", `Version ${overview.version} watches ${overview.watched}${time}.`);
}

function showProblem(error) {
	const line = document.getElementById("problem");

	line.hidden = !error;
	line.textContent = error ? `gpuprobe does not answer, numbers are old: ${error.message}` : "";
}

async function update() {
	let history;

	try {
		[overview, history] = await Promise.all([ask("overview"), ask("history")]);
	} catch (error) {
		showProblem(error);
		return;
	}
	showProblem(null);
	showWatched();
	showProcesses(overview, details?.id, choose);
	showFindings(overview);
	showLosses(overview);
	showHistory(history);
	if (details)
		await askDetails();
}

async function run() {
	// Also after an error in an update, which the browser's console has.
	setTimeout(run, PERIOD_MS);
	if (!document.hidden)
		await update();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
	for (const { plot } of plots)
		plot.redraw();
	details?.plot?.redraw();
});
run();
