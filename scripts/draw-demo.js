// Draws docs/images/demo.svg from a running demo: p99 of each stage, and when the anomaly was open.
//
//     bin/tailmark.js demo            in one terminal, until it says that calm traffic goes on
//     node scripts/draw-demo.js URL   in another; URL is the ClickHouse address it printed

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const url = process.argv[2];
if (url === undefined) {
  process.stderr.write('Which ClickHouse? node scripts/draw-demo.js http://127.0.0.1:PORT\n');
  process.exit(64);
}

async function rows(query) {
  const response = await fetch(`${url}/?database=tailmark&default_format=JSONEachRow`, {
    method: 'POST',
    body: query,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const anomalies = await rows(
  `SELECT toUnixTimestamp(started_at) AS opened, toUnixTimestamp(resolved_at) AS resolved, body
   FROM anomalies_current ORDER BY started_at`,
);
if (anomalies.length === 0) throw new Error('no anomaly yet: wait for the end of the story');
const from = Math.min(...anomalies.map((a) => a.opened)) - 130;
const to = from + 270;
const points = await rows(
  `SELECT toUnixTimestamp(window_start) AS t, stage, toFloat64(quantilesTDigestMerge(0.99)(latency)[1]) AS p99
   FROM latency_10s
   WHERE model = 'ranker' AND region = 'eu-west-1' AND NOT cold_start
     AND window_start >= ${from} AND window_start < ${to}
   GROUP BY t, stage ORDER BY t`,
);

const width = 900;
const height = 330;
const plot = { left: 56, top: 44, right: 700, bottom: 290 };
// Room above the lines for the label.
const highest = Math.ceil(Math.max(...points.map((p) => p.p99)) / 50 + 1) * 50;
const x = (t) => plot.left + ((t - from) / (to - from)) * (plot.right - plot.left);
const y = (ms) => plot.bottom - (ms / highest) * (plot.bottom - plot.top);
const colors = { total: '#5b6470', features: '#d6336c', queue: '#b08900', forward: '#1c7ed6' };
const stages = [...new Set(points.map((p) => p.stage))].sort((a, b) => peak(b) - peak(a));
function peak(stage) {
  return Math.max(...points.filter((p) => p.stage === stage).map((p) => p.p99));
}
const line = (stage) => {
  const path = points
    .filter((p) => p.stage === stage)
    .map((p) => `${x(p.t + 5).toFixed(1)},${y(p.p99).toFixed(1)}`)
    .join(' ');
  const color = colors[stage] ?? '#adb5bd';
  const strong = stage === 'features' || stage === 'total' ? 2.2 : 1.2;
  return `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="${strong}" stroke-linejoin="round"/>`;
};

const first = JSON.parse(anomalies[0].body);
const opened = anomalies[0].opened;
const regressionEnd = opened + 80;
const parts = [];
parts.push(`<rect width="${width}" height="${height}" rx="6" fill="#ffffff"/>`);
parts.push(
  `<rect x="${x(opened)}" y="${plot.top}" width="${x(regressionEnd) - x(opened)}" height="${plot.bottom - plot.top}" fill="#d6336c" opacity="0.08"/>`,
);
for (let ms = 0; ms <= highest; ms += 50) {
  parts.push(
    `<line x1="${plot.left}" y1="${y(ms)}" x2="${plot.right}" y2="${y(ms)}" stroke="#e9ecef"/>`,
  );
  parts.push(`<text x="${plot.left - 8}" y="${y(ms) + 4}" text-anchor="end">${ms}</text>`);
}
for (let t = Math.ceil(from / 60) * 60; t < to; t += 60) {
  const label = new Date(t * 1000).toISOString().slice(11, 16);
  parts.push(`<text x="${x(t)}" y="${plot.bottom + 18}" text-anchor="middle">${label}</text>`);
}
for (const stage of stages) parts.push(line(stage));
parts.push(
  `<text x="${plot.left}" y="22" font-size="14" font-weight="600" fill="#212529">p99 of each stage of ranker in eu-west-1, ms, per 10 s window</text>`,
);
parts.push(
  `<text x="${x(opened) + 6}" y="${plot.top + 16}" fill="#d6336c" font-weight="600">regression found: blame ${first.blame[0].stage}</text>`,
);
stages.slice(0, 4).forEach((stage, i) => {
  const at = plot.top + 20 + i * 22;
  parts.push(
    `<line x1="${plot.right + 20}" y1="${at - 4}" x2="${plot.right + 44}" y2="${at - 4}" stroke="${colors[stage] ?? '#adb5bd'}" stroke-width="2.2"/>`,
  );
  parts.push(`<text x="${plot.right + 52}" y="${at}">${stage}</text>`);
});
parts.push(
  `<text x="${plot.right + 52}" y="${plot.top + 20 + 4 * 22}" fill="#868e96">and ${stages.length - 4} quieter ones</text>`,
);
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#495057">\n${parts.join('\n')}\n</svg>\n`;
const file = fileURLToPath(new URL('../docs/images/demo.svg', import.meta.url));
writeFileSync(file, svg);
process.stdout.write(`${file}\n`);
