// SPDX-License-Identifier: BSD-2-Clause
// The details of the process that was chosen: facts, memory by call site, kernels, flame graph.
import { bandwidth, bytes, count, element, rate, seconds, share } from "/web/text.js";
import { Plot } from "/web/plots.js";
import { findingElement, nameOf } from "/web/tables.js";

function facts(process) {
	const rates = process.rates ?? {};
	const step = process.step;
	const list = [
		["verdict", process.verdict_sentence ?? "none yet: it takes a second of work"],
		["memory", (process.memory_at_least ? "at least " : "") + bytes(process.memory_bytes)],
		["launches", `${rate(rates.launches_per_second)}, ${count(process.launches)} so far`],
		["copies", `${rate(rates.copies_per_second)}, ` +
			`${bandwidth(rates.bytes_to_device_per_second)} to the device, ` +
			`${bandwidth(rates.bytes_to_host_per_second)} to the host`],
		["waits", `${share(rates.waiting)} of the time`],
		["step", step ? `${seconds(step.usual_seconds)} (p99 ${seconds(step.p99_seconds)})` :
			"no repetition was seen"],
		["user", process.user ?? "unknown"],
		["container", process.container ?? "none"],
	];

	return element("dl", {}, ...list.flatMap(([name, text]) =>
		[element("dt", {}, name), element("dd", {}, text)]));
}

function kernels(process) {
	const rest = process.kernel_count - process.kernels.length;
	const rows = process.kernels.map((kernel) => element("tr", {},
		element("td", { className: "name", title: kernel.name ?? "" }, kernel.label),
		element("td", { className: "number" }, count(kernel.launches))));

	return [element("h3", {}, `Kernels: ${process.kernel_count}`),
		element("table", {}, element("tr", {}, element("th", {}, "kernel"),
			element("th", { className: "number" }, "launches")), ...rows),
		element("p", { className: "note" }, rest > 0 ? `and ${rest} more` : "")];
}

function frameText(frame) {
	const place = frame.file ? ` ${frame.file}:${frame.line ?? ""}` : "";

	return `${frame.function ?? frame.object ?? "unknown"}${place}`;
}

function sites(process) {
	const rows = process.live_sites.map((site) => {
		const frames = (site.stack?.frames ?? []).map((frame) =>
			element("div", {}, frameText(frame)));

		return element("tr", {},
			element("td", { className: "number" }, bytes(site.bytes)),
			element("td", { className: "number" }, count(site.count)),
			element("td", { className: "name" },
				...(frames.length ? frames : ["stack not known"])));
	});

	return [element("h3", {}, "Live memory by call site"),
		element("table", {}, element("tr", {}, element("th", { className: "number" }, "bytes"),
			element("th", { className: "number" }, "allocations"),
			element("th", {}, "stack, innermost call first")), ...rows)];
}

// One process; a new one is made for each that is chosen.
export class Details {
	constructor(id, close) {
		const button = element("button", { type: "button", className: "close" }, "close");

		this.id = id;
		this.title = element("h2", {});
		this.facts = element("div", {});
		this.findings = element("div", {});
		this.sites = element("div", { className: "wide" });
		this.kernels = element("div", { className: "wide" });
		this.plots = element("div", {});
		this.flame = element("div", {});
		this.section = document.getElementById("details");
		button.addEventListener("click", close);
		this.section.replaceChildren(button, this.title, this.facts, this.findings,
			this.plots, this.flame, this.sites, this.kernels);
		this.section.hidden = false;
		this.section.scrollIntoView({ block: "nearest" });
	}

	showGone() {
		this.title.textContent = "This process has ended, or gpuprobe no longer watches it.";
	}

	// The graph is loaded when the user asks for it: it may be large.
	beginStacks() {
		const load = element("button", { type: "button" }, "Flame graph of its live memory");

		this.plot = new Plot(this.plots, "Memory by call site", bytes);
		load.addEventListener("click", () => {
			const src = `/api/v1/processes/${this.id}/flame.svg`;
			const alone = element("a", { href: src, target: "_blank", rel: "noopener" },
				"open it alone");

			this.flame.replaceChildren(load, " ", alone,
				element("iframe", { title: "flame graph", src }));
		});
		this.flame.replaceChildren(load);
	}

	showStacks(process) {
		const history = process.site_history;

		if (!process.stacks) {
			this.flame.replaceChildren(element("p", { className: "note" },
				"Call sites and the flame graph need stacks: start gpuprobe with --stack."));
			return;
		}
		if (!this.plot)
			this.beginStacks();
		this.plot.show(history.times, history.sites.map((site, index) =>
			({ key: `${index} ${site.label}`, label: site.label,
				values: site.memory_bytes })));
		this.sites.replaceChildren(...sites(process));
	}

	show(process, overview) {
		const own = overview.findings.filter((finding) => finding.pid === process.pid);

		this.title.replaceChildren(element("span", {}, nameOf(process)));
		this.facts.replaceChildren(facts(process));
		this.findings.replaceChildren(...own.map((finding) =>
			findingElement(finding, overview.advice)));
		this.showStacks(process);
		this.kernels.replaceChildren(...(process.kernels ? kernels(process) : []));
	}
}
