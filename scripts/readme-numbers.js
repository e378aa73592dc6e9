// Makes README's table of numbers of what is recorded in bench/results/: each row names its file, its
// command and its date, and every number in it is read or computed from that file.

import { betweenMarks } from './between-marks.js';
import { tableOf } from './eval-plots.js';
import { sectionsOf } from './pipeline-table.js';

/**
 * The document with its table made anew.
 *
 * @param read the text of `bench/results/NAME.txt`, by NAME; '' where nothing is recorded.
 */
export function withReadmeNumbers(document, read) {
  const table = [
    '| measured | result | command | recorded |',
    '|---|---|---|---|',
    ...ingestRows(read('pipeline')),
    seriesRow(read('series')),
    spansRow(read('otlp-pipeline')),
    simRow(read('sim')),
    chaosRow(read('chaos')),
    outageRow(read('chaos-outage')),
    fuzzRow(read('fuzz')),
    falsePagesRow(read('eval-false-pages')),
    faultsRow(read('eval-faults')),
    delayRow(read('page-delay')),
  ].join('\n');
  return betweenMarks(document, 'numbers', table, 'bench/results/');
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

function ingestRows(results) {
  const sections = sectionsOf(results);
  const median = (text) => text.split(' (')[0];
  const rates = sections.map(({ perMessage, peers: [own] }) => {
    const messages = perMessage === 1 ? 'one event' : `${perMessage} events`;
    return `${messages} a message: ${median(own.wall)} a second, ${median(own.cpu)} a CPU second, ${own.peak}`;
  });
  const [packed] = sections.map(({ peers }) => peers.slice(1));
  const ratios = packed.map(({ name, ratio }) => `${name} ${times(Number.parseFloat(ratio))}`);
  return [
    row('pipeline', results, 'ingest, from the topic to the acknowledged insert', rates.join('; ')),
    row('pipeline', results, 'events per CPU second, times those of', ratios.join(', ')),
  ];
}

function seriesRow(results) {
  const lines = [...results.matchAll(/^ +(\d+) series, (keyed|any): ([\d.]+ k) events/gm)];
  const counts = [...new Set(lines.map(([, count]) => count))];
  if (counts.length === 0) throw new Error('The results have lost the series');
  const rateOf = (count, by) => {
    const line = lines.find(([, series, keyed]) => series === count && keyed === by);
    return line?.[3] ?? 'not measured';
  };
  const rates = counts.map(
    (count) => `${grouped(count)}: ${rateOf(count, 'keyed')}, ${rateOf(count, 'any')}`,
  );
  const done = 'events per CPU second of many series: keyed, in any partition';
  return row('series', results, done, rates.join('; '));
}

function spansRow(results) {
  const rounds = /round \d+: (\d+) k requests a CPU second of tailmark, (\d+) k with/g;
  const [first] = results.split(/^(?=\d+ spans of vLLM, (?!200))/m);
  const rates = [...first.matchAll(rounds)].map(([, own, all]) => [Number(own), Number(all)]);
  const median = (i) => rates.map((rate) => rate[i]).sort((a, b) => a - b)[rates.length >> 1];
  const result = `${median(0)} k requests a CPU second, ${median(1)} k with ClickHouse`;
  return row('otlp-pipeline', results, 'spans of vLLM, ingested', result);
}

function simRow(results) {
  const [seeds] = found(results, /^seeds +([\d,]+)$/m);
  const [bad] = found(results, /^bad seeds +(\d+)$/m);
  const done = `${seeds} simulated worlds with crashes, zombies and lost responses`;
  const result = `${bad} with a wrong count`;
  return row('sim', results, done, result);
}

function chaosRow(results) {
  const [cycles] = found(results, /^cycles +(\d+)$/m);
  const [events] = found(results, /^events +(\d+) /m);
  const [differences, of] = found(results, /^differences +(\d+) of (\d+)/m);
  const [takeover] = found(results, /^takeover after kill -9 .* most ([\d.]+) s/m);
  const done = `${cycles} kills, pauses, cuts and restarts over ${grouped(events)} events`;
  const result = `${differences} of ${of} sums differ; takeover within ${takeover} s`;
  return row('chaos', results, done, result);
}

function outageRow(results) {
  const [away] = found(results, /^ClickHouse away +(\d+)m$/m);
  const [input] = found(results, /^input .* (\d+) asked for$/m);
  const [differences, of] = found(results, /^differences +(\d+) of (\d+)/m);
  const [ratio] = found(results, /^caught up in .* ([\d.]+) times the input/m);
  const [memory] = found(results, /^memory, the most +(\d+) MiB/m);
  const done = `${away} minutes without ClickHouse at ${grouped(input)} events a second`;
  const result = `${differences} of ${of} sums differ; at most ${memory} MiB; caught up at ${ratio} times the input`;
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
  const done = `${grouped(messages)} fuzzed messages, ${bombs.length} bombs`;
  const result =
    `${crashes} crashes; a message takes ${Math.round(Number(slowest))} ms at most, a bomb ${mostOf(2)} MiB and ` +
    `${mostOf(3)} ms`;
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
  const result =
    `${all['false pages']} in ${grouped(all['series-weeks'])} series-weeks: ${all['per 1,000 series-weeks']} per 1,000 ` +
    `(at most ${all['at most (95 %)']}, 95 %)`;
  const done = `false pages in ${kinds.length} kinds of traffic with nothing wrong`;
  return row('eval-false-pages', results, done, result);
}

function faultsRow(results) {
  const rows = tableOf(results, 'fault');
  const all = rowOf(rows, 'all');
  const rated = rows.filter(
    (each) => each !== all && Number.parseFloat(each['recall of those']) >= 0,
  );
  const recall = (each) => Number.parseFloat(each['recall of those']);
  const worst = rated.reduce((a, b) => (recall(b) < recall(a) ? b : a));
  const done = `recall, against an oracle that knows the traffic, of ${rated.length} kinds of fault`;
  const result =
    `${all['recall of those']} of ${grouped(all['oracle finds'])} faults, ${all['stage blamed']} right stage; ` +
    `worst: ${worst.name}, ${worst['recall of those']}`;
  return row('eval-faults', results, done, result);
}

/** Each fault stands at the margin, and its summary after its rounds. */
function delayRow(results) {
  const what = 'from a fault’s first event to the page, Kafka to Kafka';
  if (results === '') return `| ${what} | not recorded yet | \`npm run bench -- page-delay\` | – |`;
  const [rate] = found(results, /^(\d+) requests\/s of one model/m);
  const delays = [
    ...results.matchAll(
      /^([^ \n][^\n]*)\n(?: {2}seed .*\n)+ {2}paged (\d+) of (\d+)(?:; least ([\d.]+) s, median ([\d.]+) s, most ([\d.]+) s)?$/gm,
    ),
  ];
  if (delays.length === 0) throw new Error('The results of the delay have lost their faults');
  const texts = delays.map(([, fault, paged, of, least, , most]) => {
    const delay = least === undefined ? '' : `, ${least} to ${most} s`;
    const name = fault.replace('outage: all requests, ', '').split(/[:,]/)[0];
    return `${name}: ${paged} of ${of}${delay}`;
  });
  const done = `${what}, ${rate} requests a second`;
  return row('page-delay', results, done, texts.join('; '));
}
