// Makes README's tables of numbers of what is recorded in bench/results/: each row names its file, its
// command and its date, and every number in it is read or computed from that file.

import { betweenMarks } from './between-marks.js';
import { tableOf } from './eval-plots.js';
import { sectionsOf } from './pipeline-table.js';

/**
 * The document with its tables made anew.
 *
 * @param read the text of `bench/results/NAME.txt`, by NAME; '' where nothing is recorded.
 */
export function withReadmeNumbers(document, read) {
  const tables = {
    'numbers-ingest': ingestTable(read('pipeline')),
    'numbers-robustness': table('fault injected', [
      simRow(read('sim')),
      chaosRow(read('chaos')),
      outageRow(read('chaos-outage')),
      fuzzRow(read('fuzz')),
    ]),
    'numbers-detection': table('detection, on simulated traffic whose truth is known', [
      falsePagesRow(read('eval-false-pages')),
      faultsRow(read('eval-faults')),
      delayRow(read('page-delay')),
    ]),
  };
  return Object.entries(tables).reduce(
    (made, [name, text]) => betweenMarks(made, name, text, 'bench/results/'),
    document,
  );
}

function table(head, rows) {
  return [`| ${head} | result | command | recorded |`, '|---|---|---|---|', ...rows].join('\n');
}

/** A row of a file: what was done and its result, how it was run and when. */
function row(name, results, done, result) {
  return `| ${done} | ${result} | \`${commandOf(results)}\` | ${recordedOf(name, results)} |`;
}

/** The head of a file is the script and its options. What changes no number is left out. */
export function commandOf(results) {
  const [title = ''] = results.split('\n', 1);
  const [script = '', ...options] = title.replaceAll(/ --(jobs \d+|verbose)/g, '').split(' ');
  const isOutage = script === 'chaos-outage';
  const rest = options.length === 0 ? '' : ` -- ${options.join(' ')}`;
  return `npm run ${isOutage ? 'chaos' : script}${rest}`;
}

function recordedOf(name, results) {
  return `[${found(results, /^(\d{4}-\d\d-\d\d), commit/m)[0]}](bench/results/${name}.txt)`;
}

/** What the groups of an expression hold. */
function found(results, expression) {
  const match = expression.exec(results);
  if (match === null)
    throw new Error(`The results have lost ${expression}: ${results.slice(0, 60)}`);
  return match.slice(1);
}

const grouped = (digits) => Number(String(digits).replaceAll(',', '')).toLocaleString('en');

/** To three digits, as they are read aloud. */
function times(ratio) {
  return ratio >= 10 ? String(Math.round(ratio)) : ratio.toFixed(1);
}

function ingestTable(results) {
  const sections = sectionsOf(results);
  const rows = sections.map(({ perMessage, peers: [own] }) => {
    const messages = perMessage === 1 ? 'one event a message' : `${perMessage} events a message`;
    const median = (text) => text.split(' (')[0];
    return `| ${messages} | ${median(own.cpu)} | ${median(own.wall)} | ${own.peak} | ${recordedOf('pipeline', results)} |`;
  });
  const [packed, single] = sections.map(({ peers }) => peers.slice(1));
  const ratios = (peers) => peers.map(({ ratio }) => times(Number.parseFloat(ratio)));
  const names = packed.map(({ name }) => name);
  const listed = (items) => `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
  const compared = ratios(packed).map((ratio, i) => `${ratio} times ${names[i]}`);
  // Events per CPU second: [k] ([least] k–[most] k).
  const spreadOf = ({ cpu }) => found(cpu, /\((\d+) k–(\d+) k\)/).map(Number);
  const [least] = spreadOf(sections[0].peers[0]);
  const worst = packed.map((peer, i) => `${times(least / spreadOf(peer)[1])} times ${names[i]}`);
  return [
    '| from the topic to the acknowledged insert, one worker | events per CPU second, ClickHouse’s included | events a second | peak memory | recorded |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    `Events per CPU second, by medians: ${listed(compared)}; with one event a message ${listed(ratios(single))} times.`,
    `The least of tailmark’s rounds over the best of each peer’s: ${listed(worst)}. Counts, sums and percentiles of`,
    'each are held against the input first: [performance](docs/explained/performance.md), `npm run bench -- pipeline`.',
  ].join('\n');
}

function simRow(results) {
  const [seeds] = found(results, /^seeds +([\d,]+)$/m);
  const [bad] = found(results, /^bad seeds +(\d+)$/m);
  const done = `${seeds} simulated worlds, each with its own crashes, zombies, lost responses, forgotten tokens and the like`;
  const result = `${bad} worlds in which a count, sum, ledger row or dead letter is wrong`;
  return row('sim', results, done, result);
}

function chaosRow(results) {
  const [cycles] = found(results, /^cycles +(\d+)$/m);
  const [events] = found(results, /^events +(\d+) /m);
  const [differences, of] = found(results, /^differences +(\d+) of (\d+)/m);
  const [takeover] = found(results, /^takeover after kill -9 .* most ([\d.]+) s/m);
  const [sigterm] = found(results, /^end after SIGTERM .* most ([\d.]+) s/m);
  const done = `${cycles} kills, pauses, cuts, restarts over ${grouped(events)} events`;
  const result =
    `${differences} of ${of} counts, sums and offsets differ; partitions of a killed process stored elsewhere within ` +
    `${takeover} s, SIGTERM over within ${sigterm} s`;
  return row('chaos', results, done, result);
}

function outageRow(results) {
  const [away] = found(results, /^ClickHouse away +(\d+)m$/m);
  const [input] = found(results, /^input .* (\d+) asked for$/m);
  const [differences, of] = found(results, /^differences +(\d+) of (\d+)/m);
  const [ratio] = found(results, /^caught up in .* ([\d.]+) times the input/m);
  const [memory] = found(results, /^memory, the most +(\d+) MiB/m);
  const done = `${away} minutes without ClickHouse at ${grouped(input)} events a second`;
  const result = `${differences} of ${of} counts, sums and offsets differ; memory at most ${memory} MiB, caught up at ${ratio} times the input`;
  return row('chaos-outage', results, done, result);
}

function fuzzRow(results) {
  const [messages, crashes, slowest] = found(
    results,
    /^(\d+) messages, .*: (\d+) crashes, the slowest ([\d.]+) ms/m,
  );
  const bombs = [...results.matchAll(/^(.+): \+(\d+) MiB, (\d+) ms$/gm)];
  if (bombs.length === 0) throw new Error('The results of the fuzzer have lost their bombs');
  const mostOf = (group) => Math.max(...bombs.map((bomb) => Number(bomb[group])));
  const done = `${grouped(messages)} fuzzed messages; ${bombs.length} bombs: compression, depth, size`;
  const result =
    `${crashes} crashes, the slowest message ${Math.round(Number(slowest))} ms; a bomb takes ${mostOf(2)} MiB and ` +
    `${mostOf(3)} ms at most`;
  return row('fuzz', results, done, result);
}

function rowOf(rows, name) {
  const one = rows.find((each) => each.name === name);
  if (one === undefined) throw new Error(`The results have lost their row: ${name}`);
  return one;
}

function falsePagesRow(results) {
  const rows = tableOf(results, 'traffic with nothing wrong');
  const all = rowOf(rows, 'all');
  const kinds = rows.filter((each) => each !== all);
  const most = kinds.reduce((a, b) =>
    Number(b['false pages']) > Number(a['false pages']) ? b : a,
  );
  const result =
    `${all['false pages']} in ${grouped(all['series-weeks'])} series-weeks: ${all['per 1,000 series-weeks']} per 1,000 ` +
    `(at most ${all['at most (95 %)']}, by the 95 % bound); at most ${most['false pages']} in the ` +
    `${most['series-weeks']} weeks of one kind of traffic`;
  const done = `false pages in ${kinds.length} kinds of traffic with nothing wrong: bursts, swings, daily jobs, deploys, heavy tails`;
  return row('eval-false-pages', results, done, result);
}

function faultsRow(results) {
  const rows = tableOf(results, 'fault');
  const all = rowOf(rows, 'all');
  const judged = rows.filter(
    (each) => each !== all && Number.parseFloat(each['recall of those']) >= 0,
  );
  const recall = (each) => Number.parseFloat(each['recall of those']);
  const worst = judged.reduce((a, b) => (recall(b) < recall(a) ? b : a));
  const done = `recall, against an oracle that knows the traffic’s distribution, of ${judged.length} kinds of fault`;
  const result =
    `${all['recall of those']} of the ${grouped(all['oracle finds'])} faults that the oracle finds, ` +
    `${all['stage blamed']} blamed on the right stage; worst: ${worst.name}, ${worst['recall of those']}`;
  return row('eval-faults', results, done, result);
}

/** Each fault stands at the margin, and its summary after its rounds. */
function delayRow(results) {
  const what =
    'from the first event of a fault to the page on the topic, Kafka to Kafka, default settings';
  if (results === '') return `| ${what} | not recorded yet | \`npm run bench -- page-delay\` | – |`;
  const [rate] = found(results, /^(\d+) requests\/s of one model/m);
  const delays = [
    ...results.matchAll(
      /^([^ \n][^\n]*)\n(?: {2}seed .*\n)+ {2}paged (\d+) of (\d+)(?:; least ([\d.]+) s, median ([\d.]+) s, most ([\d.]+) s)?$/gm,
    ),
  ];
  if (delays.length === 0) throw new Error('The results of the delay have lost their faults');
  const texts = delays.map(([, fault, paged, of, least, median, most]) => {
    const delay = least === undefined ? '' : `, ${least} to ${most} s (median ${median} s)`;
    return `${fault}: ${paged} of ${of} paged${delay}`;
  });
  const done = `${what}, ${rate} requests a second`;
  return row('page-delay', results, done, texts.join('; '));
}
