// Numbers as people read them, and elements.

export function count(number) {
  return Math.round(number).toLocaleString("en");
}

/// Seconds with as many digits as a multiple of `step`, in seconds, has; nine at most.
export function secondsText(time, step = 1e-6) {
  const whole = (digits) =>
    step * 10 ** digits > 0.999 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) < 1e-3;
  let digits = 0;
  while (digits < 9 && !whole(digits)) digits++;
  return time.toFixed(digits);
}

/// A length of time with its unit.
export function lengthText(seconds) {
  for (const [unit, size] of [
    ["s", 1],
    ["ms", 1e-3],
    ["us", 1e-6],
  ]) {
    if (seconds >= size) return `${(seconds / size).toPrecision(3)} ${unit}`;
  }
  return `${Math.round(seconds * 1e9)} ns`;
}

/// An element with properties, and with children: elements or text, never markup.
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && key !== "list") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const button = (text, onclick, properties = {}) =>
  element("button", { type: "button", onclick, ...properties }, text);

export const note = (...words) => element("p", { className: "note" }, ...words);

/// A colour of page.css.
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
