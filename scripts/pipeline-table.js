// Turns what `npm run bench -- pipeline --record` has kept into the tables of docs/explained/performance.md.

import { betweenMarks } from './between-marks.js';

/** The document with its tables made anew. */
export function withPipelineTables(document, results) {
  return betweenMarks(document, 'pipeline', sectionsOf(results).map(tableOf).join('\n\n'));
}

/** Each comparison: its line at the margin, and of each way what is indented under it. */
export function sectionsOf(results) {
  const sections = [];
  for (const line of results.split('\n')) {
    const head = /^(\d+) events, (\d+) a message, (\d+) rounds/.exec(line);
    if (head) sections.push({ events: Number(head[1]), perMessage: Number(head[2]), peers: [] });
    const peers = sections.at(-1)?.peers;
    const peer = /^ {2}([^ ][^:]*): (.*)$/.exec(line);
    if (peer) peers?.push({ name: peer[1], about: peer[2], peak: '', ratio: '' });
    const last = peers?.at(-1);
    const cpu = /^ {4}(\d+ k) \((.*)\) events per CPU second/.exec(line);
    if (cpu && last) last.cpu = `${cpu[1]} (${cpu[2]})`;
    const wall = /^ {4}(\d+ k) \((.*)\) events per second(?:, peak (.*))?$/.exec(line);
    if (wall && last) Object.assign(last, { wall: `${wall[1]} (${wall[2]})`, peak: wall[3] ?? '' });
    const ratio = /^ {4}tailmark does ([\d.]+) times/.exec(line);
    if (ratio && last) last.ratio = `${ratio[1]} ×`;
  }
  return sections;
}

function tableOf({ events, perMessage, peers }) {
  const messages = perMessage === 1 ? 'one event a message' : `${perMessage} events a message`;
  const rows = peers.map(({ name, about, cpu, wall, peak, ratio }) => {
    const label = name === 'tailmark' ? `**${name}**` : name;
    return `| ${label}: ${about} | ${cpu} | ${wall} | ${peak} | ${ratio} |`;
  });
  return [
    `| ${messages}, ${events.toLocaleString('en')} of them | events per CPU second | events a second | peak memory of the reader | tailmark per CPU second |`,
    '|---|---:|---:|---:|---:|',
    ...rows,
  ].join('\n');
}
