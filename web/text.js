// SPDX-License-Identifier: BSD-2-Clause
// Elements and amounts as text. Names come from watched programs: they become text nodes only.

// Characters that a reader cannot see, or that change the order of others.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function visible(text) {
	return String(text).replace(HIDDEN, (hidden) =>
		"\\u" + hidden.charCodeAt(0).toString(16).padStart(4, "0"));
}

// Children that are no elements become visible text.
function nodes(children) {
	return children.map((child) => child instanceof Node ? child : visible(child));
}

export function element(tag, properties, ...children) {
	const made = document.createElement(tag);

	Object.assign(made, properties);
	made.append(...nodes(children));
	return made;
}

export function fill(id, ...children) {
	document.getElementById(id).replaceChildren(...nodes(children));
}

function scaled(value, step, units) {
	let unit = 0;

	while (Math.abs(value) >= step && unit + 1 < units.length) {
		value /= step;
		unit++;
	}
	const digits = unit && Math.abs(value) < 100 ? 1 : 0;
	return `${value.toFixed(digits)} ${units[unit]}`.trim();
}

function unlessUnknown(form) {
	return (value) => value === null || value === undefined ? "unknown" : form(value);
}

export const bytes = unlessUnknown((value) =>
	scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]));
export const bandwidth = unlessUnknown((value) => `${bytes(value)}/s`);
export const count = unlessUnknown((value) => scaled(value, 1000, ["", "k", "M", "G"]));
export const rate = unlessUnknown((value) =>
	value && value < 10 ? `${value.toFixed(1)}/s` : `${count(value)}/s`);
export const share = unlessUnknown((value) => `${(100 * value).toFixed(1)} %`);
export const seconds = unlessUnknown((value) => {
	if (value < 1e-3)
		return `${(value * 1e6).toFixed(1)} µs`;
	if (value < 1)
		return `${(value * 1e3).toFixed(1)} ms`;
	if (value < 120)
		return `${value.toFixed(1)} s`;
	return value < 7200 ? `${Math.floor(value / 60)} min` : `${Math.floor(value / 3600)} h`;
});
