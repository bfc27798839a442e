// SPDX-License-Identifier: BSD-2-Clause
// Plots over time by uPlot. The legend is our own, because it has names of watched programs.
import { bandwidth, bytes, element, share } from "/web/text.js";

const HEIGHT = 190;
const MOST_LINES = 8;
const LEAST_SECONDS = 60; // of the axis, while there are few points
// Steps of an axis of bytes.
const BYTE_STEPS = [0, 1, 2, 3, 4].flatMap((power) =>
	[1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((step) => step * 1024 ** power));
const COLORS = ["#3b7ddd", "#e0662b", "#2a9d5c", "#b14fc5", "#c9a227", "#d6436e", "#28a3b3",
	"#8a6d5a"];

function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function timeOf(seconds) {
	return new Date(1000 * seconds).toLocaleTimeString([], { hourCycle: "h23" });
}

function most(values) {
	return values.reduce((top, value) => Math.max(top, value ?? 0), 0);
}

function latest(values, at) {
	return values[at ?? values.length - 1];
}

// A plot of lines: {key, label, values}. Those with the largest values are drawn.
export class Plot {
	constructor(parent, title, form) {
		this.form = form;
		this.least = form === share ? 0.01 : 1; // of the axis
		this.steps = form === bytes || form === bandwidth ? { incrs: BYTE_STEPS } : {};
		this.area = element("div", {});
		this.legend = element("ul", { className: "legend" });
		this.rest = element("p", { className: "note" });
		parent.append(element("div", { className: "plot" }, element("h3", {}, title),
			this.area, this.legend, this.rest));
		this.colors = new Map();
		this.lines = [];
		new ResizeObserver(() => this.resize()).observe(this.area);
	}

	resize() {
		if (this.drawn && this.area.clientWidth)
			this.drawn.setSize({ width: this.area.clientWidth, height: HEIGHT });
	}

	// A line keeps its colour as long as it is drawn.
	colorOf(key) {
		if (!this.colors.has(key)) {
			const used = new Set(this.colors.values());

			this.colors.set(key, COLORS.find((each) => !used.has(each)) ?? COLORS[0]);
		}
		return this.colors.get(key);
	}

	show(times, lines) {
		const known = lines.filter((line) => line.values.some((value) => value !== null));
		const shown = known.map((line) => ({ ...line, most: most(line.values) }))
			.sort((a, b) => b.most - a.most).slice(0, MOST_LINES)
			.sort((a, b) => a.key < b.key ? -1 : 1);
		const keys = shown.map((line) => line.key);
		const left = known.length - shown.length;

		for (const key of this.colors.keys())
			if (!keys.includes(key))
				this.colors.delete(key);
		this.lines = shown;
		this.rest.textContent = left ? `and ${left} more, not drawn` :
			shown.length ? "" : "unknown";
		this.draw(times, keys.join("\n"));
		this.label();
	}

	draw(times, keys) {
		const data = [times, ...this.lines.map((line) => line.values)];

		if (this.drawn && this.keys === keys) {
			this.drawn.setData(data);
			return;
		}
		this.keys = keys;
		this.drawn?.destroy();
		this.drawn = new uPlot(this.options(), data, this.area);
	}

	redraw() {
		const data = this.drawn?.data;

		this.keys = null;
		if (data)
			this.draw(data[0], this.lines.map((line) => line.key).join("\n"));
	}

	options() {
		const axis = { stroke: color("--quiet"), grid: { stroke: color("--line"), width: 1 },
			ticks: { stroke: color("--line"), width: 1 } };

		return {
			width: this.area.clientWidth || 300, height: HEIGHT,
			legend: { show: false }, cursor: { drag: { x: false, y: false } },
			scales: {
				x: { range: (plot, low, high) =>
					[Math.min(low, high - LEAST_SECONDS), high] },
				y: { range: (plot, low, high) => [0, Math.max(high * 1.05, this.least)] },
			},
			axes: [{ ...axis, space: 70, values: (plot, ticks) => ticks.map(timeOf) },
				{ ...axis, ...this.steps, size: 78, values: (plot, ticks) =>
				ticks.map((tick) => this.form(tick)) }],
			series: [{}, ...this.lines.map((line) => ({
				stroke: this.colorOf(line.key), width: 1.5 }))],
			hooks: { setCursor: [(plot) => this.label(plot.cursor.idx)] },
		};
	}

	// The values at the cursor, or the latest ones.
	label(at) {
		this.legend.replaceChildren(...this.lines.map((line) => {
			const swatch = element("span", { className: "swatch" });

			swatch.style.background = this.colorOf(line.key);
			return element("li", {}, swatch,
				element("span", { className: "name" }, line.label),
				element("span", { className: "number" },
					this.form(latest(line.values, at))));
		}));
	}
}
