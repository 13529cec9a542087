// The data of the page, as host-tools/report/script.hpp describes it, in a form that is quick to draw.

const seconds = 1e9;

// The numbers of cells, one after the other, as columns. Those in `summed` are less the one before.
function columns(numbers, names, summed) {
  const count = numbers.length / names.length;
  const made = { count };
  names.forEach((name, at) => {
    const column = new Array(count);
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const number = numbers[i * names.length + at];
      column[i] = summed.includes(name) ? (sum += number) : number;
    }
    made[name] = column;
  });
  return made;
}

function lane(of, hz) {
  const cells = columns(
    of.cells,
    ["begin", "length", "reads", "writes", "ticks", "longest", "event"],
    ["begin", "event"],
  );
  const tick = hz === 0 ? 0 : 1 / hz;
  return {
    device: of.device,
    cpu: of.cpu,
    width: of.width / seconds,
    count: cells.count,
    begin: Float64Array.from(cells.begin, (ns) => ns / seconds),
    end: Float64Array.from(cells.begin, (ns, i) => (ns + cells.length[i]) / seconds),
    reads: Float64Array.from(cells.reads),
    writes: Float64Array.from(cells.writes),
    spent: Float64Array.from(cells.ticks, (ticks) => ticks * tick),
    longest: Float64Array.from(cells.longest, (ticks) => ticks * tick),
    event: Float64Array.from(cells.event),
  };
}

// Cells of values are unpacked when they are looked at.
export function valuesOf(series) {
  const cells = columns(
    series.cells,
    ["begin", "length", "event", "least", "most", "ones", "zeros", "last", "reads", "writes"],
    ["begin"],
  );
  return {
    ...cells,
    begin: cells.begin.map((ns) => ns / seconds),
    end: cells.begin.map((ns, i) => (ns + cells.length[i]) / seconds),
  };
}

// By device, the one with most accesses first.
function busiestFirst(lanes) {
  const accesses = new Map();
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  for (const one of lanes) accesses.set(one.device, (accesses.get(one.device) ?? 0) + sum(one.reads) + sum(one.writes));
  return lanes.sort((a, b) => accesses.get(b.device) - accesses.get(a.device)); // stable
}

function trace(of, index, all) {
  const rows = of.events.map(([number, row]) => ({ number, trace: index, ...row }));
  return {
    ...of,
    index,
    label: all.length === 1 ? "" : "AB"[index],
    begin: of.begin / seconds,
    end: of.end / seconds,
    lanes: busiestFirst(of.lanes.map((one) => lane(one, of.hz))),
    events: rows,
    byNumber: new Map(rows.map((row) => [row.number, row])),
  };
}

export function read(element) {
  const data = JSON.parse(element.textContent);
  return { traces: data.traces.map(trace), diff: data.diff };
}

/// What the registers of a device had at a time: [register, value, whether it is certain], which it is not in a bucket
/// that goes on.
export function registersAt(trace, device, time) {
  const had = [];
  for (const series of trace.values) {
    if (series.device !== device) continue;
    const cells = valuesOf(series);
    let at = cells.count - 1;
    while (at >= 0 && cells.begin[at] > time) at--;
    if (at >= 0)
      had.push([series.register, cells.last[at], cells.least[at] === cells.most[at] || cells.end[at] <= time]);
  }
  return had;
}

/// The time of an event, in seconds; null: it is in no excerpt, nor the longest access of a bucket.
export function timeOf(trace, number) {
  const row = trace.byNumber.get(number);
  if (row) return row.ns / seconds;
  for (const one of trace.lanes) {
    const at = one.event.indexOf(number);
    if (at >= 0) return one.begin[at];
  }
  return null;
}
