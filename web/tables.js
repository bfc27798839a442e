// SPDX-License-Identifier: BSD-2-Clause
// What is watched now: the table of processes by GPU, and findings with their advice.
import { bandwidth, bytes, count, element, fill, rate, seconds, share } from "/web/text.js";

// Text and classes. A phone has no room for those that are `extra`: the details have them.
const HEADS = [["process", ""], ["user", "extra"], ["container", "extra"], ["memory", "number"],
	["launches", "number"], ["copies", "number"], ["waits", "number"],
	["proved idle", "number"], ["step", "number"], ["verdict", ""]];

export function nameOf(process) {
	return `${process.command} (${process.pid})`;
}

function containerOf(process) {
	return process.pod_name ?? process.container_name ??
		process.container?.slice(0, 12) ?? process.unit ?? "-";
}

function cell(text, className = "") {
	return element("td", { className }, text);
}

function row(process, chosen, choose) {
	const rates = process.rates ?? {};
	const button = element("button", { type: "button" }, nameOf(process));
	const name = element("td", { className: "name" }, button);
	const copied = process.rates ?
		rates.bytes_to_device_per_second + rates.bytes_to_host_per_second : null;

	button.dataset.id = process.id;
	button.addEventListener("click", () => choose(process.id));
	return element("tr", { className: process.id === chosen ? "chosen" : "" }, name,
		cell(process.user ?? "unknown", "name extra"),
		cell(containerOf(process), "name extra"),
		cell((process.memory_at_least ? "at least " : "") + bytes(process.memory_bytes),
			"number"),
		cell(rate(rates.launches_per_second), "number"), cell(bandwidth(copied), "number"),
		cell(share(rates.waiting), "number"), cell(share(process.proved_idle), "number"),
		cell(seconds(process.step?.usual_seconds), "number"),
		cell(process.verdict ?? "none yet"));
}

function gpusOf(process) {
	const labels = (process.gpus ?? []).map((gpu) => gpu.gpu).filter((label) => label);

	return labels.length ? labels.join(", ") : "unknown";
}

function gpuText(label, gpus) {
	const gpu = gpus.find((each) => each.gpu === label);

	if (!gpu)
		return `GPU ${label}`;
	return `GPU ${label}: ${gpu.name ?? "unknown"}, ${bytes(gpu.used_bytes)} of ` +
		`${bytes(gpu.total_bytes)} used, ` +
		(gpu.busy_percent === null ? "busy: unknown" : `${gpu.busy_percent} % busy`);
}

export function showProcesses(overview, chosen, choose) {
	const groups = new Map(overview.gpus.map((gpu) => [gpu.gpu, []]));
	const rows = [element("tr", {}, ...HEADS.map(([text, className]) =>
		element("th", { className }, text)))];

	for (const process of overview.processes) {
		const label = gpusOf(process);

		groups.set(label, [...groups.get(label) ?? [], process]);
	}
	for (const [label, processes] of groups) {
		rows.push(element("tr", { className: "group" },
			element("td", { colSpan: HEADS.length }, gpuText(label, overview.gpus))));
		rows.push(...processes.map((process) => row(process, chosen, choose)));
	}
	const hidden = overview.process_count - overview.processes.length;
	fill("process-title", `Processes that use CUDA: ${overview.process_count}` +
		(hidden ? `, ${hidden} of them not shown` : ""));
	const focused = document.activeElement?.dataset.id;

	fill("processes", ...rows);
	// New rows have taken the place of what a keyboard's user was at.
	if (focused)
		document.querySelector(`#processes button[data-id="${focused}"]`)
			?.focus({ preventScroll: true });
}

export function findingElement(finding, advice) {
	const about = finding.pid ? `${finding.comm} (${finding.pid})` : "several processes";
	const made = element("div", { className: `finding ${finding.severity}` },
		element("p", {}, element("span", { className: "severity" }, finding.severity), " ",
			element("strong", {}, finding.title), ` — ${about}, ${finding.id}`));

	if (finding.subject)
		made.append(element("p", {}, finding.subject));
	made.append(element("p", {}, finding.evidence ?? ""));
	if (advice[finding.id])
		made.append(element("p", { className: "note" }, advice[finding.id]));
	return made;
}

export function showFindings(overview) {
	const hidden = overview.finding_count - overview.findings.length;

	fill("finding-title", `Findings: ${overview.finding_count}` +
		(hidden ? `, ${hidden} of them not shown` : ""));
	fill("findings", ...overview.findings.map((finding) =>
		findingElement(finding, overview.advice)));
}

export function showLosses(overview) {
	const lost = Object.values(overview.lost).reduce((sum, each) => sum + each, 0);
	const line = document.getElementById("losses");

	line.hidden = !lost;
	line.textContent = `lost: ${count(lost)}, see gpuprobe_events_lost_total in the metrics`;
}
