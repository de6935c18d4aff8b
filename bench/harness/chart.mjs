/**
 * Small charts of milliseconds by count beside each other, both axes logarithmic, as one SVG. Its colours
 * follow the background: light, or dark where the reader's system says so.
 */

const WIDTH = 260;
const HEIGHT = 190;
const LEFT = 58;
const TOP = 74;
const GAP_X = 44;
const GAP_Y = 74;
const COLUMNS = 4;
const COLOURS = { ours: ['#0b62c4', '#6cb6ff'], lancedb: ['#b4530a', '#f0a35c'] };

const STYLE = `
  svg { font: 12px system-ui, sans-serif; } .paper { fill: #ffffff; }
  text { fill: #24292f; } .quiet { fill: #57606a; } .title { font-weight: 600; font-size: 13px; }
  .grid { stroke: #d8dee4; } .frame { stroke: #8c959f; fill: none; }
  polyline { fill: none; stroke-width: 2; }
  ${Object.entries(COLOURS)
    .map(([side, [light]]) => `.${side} { stroke: ${light}; } .${side}.dot { fill: ${light}; }`)
    .join('\n  ')}
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; } text { fill: #e6edf3; } .quiet { fill: #9198a1; }
    .grid { stroke: #2a313a; } .frame { stroke: #6e7681; }
    ${Object.entries(COLOURS)
      .map(([side, [, dark]]) => `.${side} { stroke: ${dark}; } .${side}.dot { fill: ${dark}; }`)
      .join('\n    ')}
  }`;

const decade = (exponent) => 10 ** exponent;
const round = (value) => Number(value.toFixed(1));

/** The powers of ten around some values, at least one decade. */
function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: high - low + 1 }, (_, index) => low + index);
}

function milliseconds(exponent) {
  if (exponent >= 3) return `${decade(exponent - 3)} s`;
  return exponent < 0 ? `${decade(exponent + 3)} µs` : `${decade(exponent)} ms`;
}

const counts = (exponent) => (exponent >= 3 ? `${decade(exponent - 3)}k` : `${decade(exponent)}`);

/** One small chart, its corner at (x, y). */
function panel({ title, of, name }, sides, exponents, x, y) {
  const series = Object.entries(sides).filter(([, found]) => found[name] !== undefined);
  const rows = decades(series.flatMap(([, found]) => found[name].map(({ median }) => median)));
  const [first, last] = [exponents[0], exponents.at(-1)];
  const across = (value) => round(x + ((Math.log10(value) - first) / (last - first)) * WIDTH);
  const [low, high] = [rows[0], rows.at(-1)];
  const up = (value) => round(y + HEIGHT - ((Math.log10(value) - low) / (high - low)) * HEIGHT);
  const parts = [`<text class="title" x="${x}" y="${y - 12}">${title}</text>`];
  for (const row of rows) {
    const at = up(decade(row));
    parts.push(`<line class="grid" x1="${x}" x2="${x + WIDTH}" y1="${at}" y2="${at}"/>`);
    parts.push(
      `<text class="quiet" x="${x - 6}" y="${at + 4}" text-anchor="end">${milliseconds(row)}</text>`,
    );
  }
  for (const column of exponents) {
    const at = across(decade(column));
    parts.push(`<line class="grid" x1="${at}" x2="${at}" y1="${y}" y2="${y + HEIGHT}"/>`);
    parts.push(
      `<text class="quiet" x="${at}" y="${y + HEIGHT + 16}" text-anchor="middle">${counts(column)}</text>`,
    );
  }
  parts.push(`<rect class="frame" x="${x}" y="${y}" width="${WIDTH}" height="${HEIGHT}"/>`);
  parts.push(
    `<text class="quiet" x="${x + WIDTH / 2}" y="${y + HEIGHT + 32}" text-anchor="middle">${of}</text>`,
  );
  for (const [side, found] of series) {
    const points = found[name].map(({ count, median }) => [across(count), up(median)]);
    parts.push(
      `<polyline class="${side}" points="${points.map((at) => at.join(',')).join(' ')}"/>`,
    );
    for (const [cx, cy] of points) {
      parts.push(`<circle class="${side} dot" cx="${cx}" cy="${cy}" r="2.5"/>`);
    }
  }
  return parts.join('\n');
}

function legend(sides, names) {
  return Object.keys(sides)
    .map((side, index) => {
      const x = LEFT + index * 120;
      return `<line class="${side}" x1="${x}" x2="${x + 26}" y1="26" y2="26" stroke-width="2"/>
<circle class="${side} dot" cx="${x + 13}" cy="26" r="2.5"/>
<text x="${x + 34}" y="30">${names[side]}</text>`;
    })
    .join('\n');
}

/**
 * @param panels `{name, title, of}`: the series shown, its title and what is counted
 * @param sides `{side: {series: [{count, median}]}}` @param names of the sides for the legend
 * @param last the largest count
 */
export function chart({ panels, sides, names, last }) {
  const exponents = decades([1, Math.max(last, 10)]);
  const stepX = LEFT + WIDTH + GAP_X - 30;
  const stepY = HEIGHT + GAP_Y;
  const drawn = panels.map((one, index) => {
    const x = LEFT + (index % COLUMNS) * stepX;
    const y = TOP + Math.floor(index / COLUMNS) * stepY;
    return panel(one, sides, exponents, x, y);
  });
  const width = LEFT + COLUMNS * stepX - 34;
  const height = TOP + Math.ceil(panels.length / COLUMNS) * stepY - 24;
  const said = `Milliseconds of ${panels.map(({ title }) => title).join(', ')} by count`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${said}">
<style>${STYLE}
</style>
<rect class="paper" width="${width}" height="${height}"/>
${legend(sides, names)}
${drawn.join('\n')}
</svg>
`;
}
