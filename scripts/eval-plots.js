// Draws what `npm run eval -- false-pages --record` and `-- faults --record` have kept as docs/images/eval-*.svg, from its tables: columns are found by
// name.

const width = 900;
const plot = { left: 170, right: 850, top: 76, rowHeight: 32 };
/** Ways, the color of each (Okabe and Ito's, distinguishable by all eyes), its shape, and its lane in a row. */
const ways = {
  tailmark: { color: '#0072b2', shape: 'disc', lane: -9 },
  'static threshold': { color: '#d55e00', shape: 'square', lane: -2 },
  'seasonal z-score': { color: '#009e73', shape: 'diamond', lane: 4 },
  'plain binomial': { color: '#7f7f7f', shape: 'ring', lane: 10 },
};
const rivals = Object.keys(ways).slice(1);

/** Every plot, of the results of both: where it goes, and its text. */
export function evalPlots(falsePages, faultsFound) {
  const nulls = tableOf(falsePages, 'traffic with nothing wrong');
  const faults = tableOf(faultsFound, 'fault');
  return [
    { path: 'docs/images/eval-recall.svg', text: recallPlot(faults) },
    { path: 'docs/images/eval-delay.svg', text: delayPlot(faults) },
    { path: 'docs/images/eval-false-pages.svg', text: falsePagesPlot(nulls) },
  ];
}

/** Rows of the table whose first column has that name, each by its columns; `name` is the first. */
export function tableOf(results, head) {
  const lines = results.split('\n');
  const cellsOf = (line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
  const from = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  if (from < 0) throw new Error(`The results have lost their table: ${head}`);
  const columns = cellsOf(lines[from]);
  const rows = [];
  for (let i = from + 2; lines[i]?.startsWith('|'); i++) {
    const cells = cellsOf(lines[i]);
    const name = cells[0].replaceAll('*', '').split(':')[0];
    rows.push({ ...Object.fromEntries(columns.map((column, at) => [column, cells[at]])), name });
  }
  return rows;
}

/** `12.5 %`, `1230` and `–`, which is no number. */
function numberOf(cell) {
  return cell === undefined || cell === '–' ? Number.NaN : Number.parseFloat(cell);
}

function recallPlot(faults) {
  const rows = faults.filter((row) => numberOf(row['recall of those']) >= 0);
  const x = (percent) => plot.left + (percent / 100) * (plot.right - plot.left);
  return drawn({
    title: 'Found, of the faults that the oracle finds',
    rows: rows.map(({ name }) => name),
    ticks: [0, 25, 50, 75, 100].map((percent) => [x(percent), `${percent} %`]),
    legend: Object.keys(ways),
    marks: rows.flatMap((row, i) =>
      Object.keys(ways).map((way) => {
        const percent = numberOf(row[way === 'tailmark' ? 'recall of those' : way]);
        return mark(way, x(percent), laneOf(i, way), `${row.name}, ${way}: ${percent} %`);
      }),
    ),
  });
}

function delayPlot(faults) {
  const rows = faults.filter((row) => numberOf(row['median delay, s']) > 0);
  const x = logScale(5, 2_000);
  return drawn({
    title: 'Seconds until it was emitted, median; beside it how many times the oracle’s',
    rows: rows.map(({ name }) => name),
    ticks: [10, 30, 60, 300, 600, 1_800].map((seconds) => [x(seconds), `${seconds} s`]),
    legend: [],
    marks: rows.flatMap((row, i) => {
      const seconds = numberOf(row['median delay, s']);
      const label = `${seconds} s, ${row['over the oracle’s']} ×`;
      return [
        line(plot.left, x(seconds), yOf(i), '#dee2e6', 1),
        mark('tailmark', x(seconds), yOf(i), `${row.name}: ${label}`),
        `<text x="${round(x(seconds) + 10)}" y="${yOf(i) + 4}">${label}</text>`,
      ];
    }),
  });
}

function falsePagesPlot(nulls) {
  const x = logScale(1, 1_000_000);
  return drawn({
    title: 'False pages per 1,000 series-weeks; the line goes to the upper bound (95 %)',
    rows: nulls.map(({ name }) => name),
    ticks: [1, 10, 100, 1_000, 10_000, 100_000].map((pages) => [
      x(pages),
      pages === 1 ? '1 or none' : pages.toLocaleString('en'),
    ]),
    legend: Object.keys(ways),
    marks: nulls.flatMap((row, i) => {
      const pages = numberOf(row['per 1,000 series-weeks']);
      const most = numberOf(row['at most (95 %)']);
      return [
        line(x(pages), x(most), laneOf(i, 'tailmark'), ways.tailmark.color, 2),
        ...rivals.map((way) =>
          mark(way, x(numberOf(row[way])), laneOf(i, way), `${row.name}, ${way}: ${row[way]}`),
        ),
        mark('tailmark', x(pages), laneOf(i, 'tailmark'), `${row.name}: ${pages}, at most ${most}`),
      ];
    }),
  });
}

/** What is below the least lies at the left edge. */
function logScale(least, most) {
  const part = (value) => Math.log(Math.max(value, least) / least) / Math.log(most / least);
  return (value) => plot.left + part(value) * (plot.right - plot.left);
}

/** The middle of a row. */
function yOf(row) {
  return plot.top + (row + 0.5) * plot.rowHeight;
}

/** Each way has a height of its own, so that none hides another. */
function laneOf(row, way) {
  return yOf(row) + ways[way].lane;
}

function mark(way, x, y, says) {
  if (!Number.isFinite(x)) return '';
  const { color, shape } = ways[way];
  const [cx, cy] = [round(x), round(y)];
  const title = `<title>${escaped(says)}</title>`;
  const hollow = `fill="#ffffff" stroke="${color}" stroke-width="1.6"`;
  if (shape === 'disc')
    return `<circle cx="${cx}" cy="${cy}" r="5" fill="${color}">${title}</circle>`;
  if (shape === 'ring') return `<circle cx="${cx}" cy="${cy}" r="3.6" ${hollow}>${title}</circle>`;
  const turned = shape === 'diamond' ? ` transform="rotate(45 ${cx} ${cy})"` : '';
  const [left, top] = [round(x - 3.2), round(y - 3.2)];
  return `<rect x="${left}" y="${top}" width="6.4" height="6.4" ${hollow}${turned}>${title}</rect>`;
}

function line(fromX, toX, y, color, thickness) {
  const at = `x1="${round(fromX)}" y1="${round(y)}" x2="${round(toX)}" y2="${round(y)}"`;
  return `<line ${at} stroke="${color}" stroke-width="${thickness}"/>`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** One decimal: the same text on every machine. */
function round(n) {
  return Number(n.toFixed(1));
}

function drawn({ title, rows, ticks, legend, marks }) {
  const bottom = plot.top + rows.length * plot.rowHeight;
  const height = bottom + 36;
  const parts = [
    `<rect width="${width}" height="${height}" rx="6" fill="#ffffff"/>`,
    `<text x="16" y="26" font-size="14" font-weight="600" fill="#212529">${title}</text>`,
    ...ticks.flatMap(([x, label]) => [
      `<line x1="${round(x)}" y1="${plot.top}" x2="${round(x)}" y2="${bottom}" stroke="#e9ecef"/>`,
      `<text x="${round(x)}" y="${bottom + 20}" text-anchor="middle">${label}</text>`,
    ]),
    ...rows.slice(1).map((_, i) => {
      const y = plot.top + (i + 1) * plot.rowHeight;
      return line(plot.left, plot.right, y, '#f1f3f5', 1);
    }),
    ...rows.map((name, i) => {
      const weight = name === 'all' ? ' font-weight="600"' : '';
      return `<text x="${plot.left - 16}" y="${yOf(i) + 4}" text-anchor="end"${weight}>${escaped(name)}</text>`;
    }),
    ...legend.flatMap((way, i) => {
      const x = plot.left + i * 160;
      return [mark(way, x, 50, way), `<text x="${x + 12}" y="54">${way}</text>`];
    }),
    ...marks.filter((text) => text !== ''),
  ];
  const style = 'font-family="system-ui, sans-serif" font-size="12" fill="#495057"';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${style}>\n${parts.join('\n')}\n</svg>\n`;
}
