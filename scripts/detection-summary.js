// Makes the table of docs/detection.md that says how good the detector is, of what bench/results/ has.

import { betweenMarks } from './between-marks.js';
import { tableOf } from './eval-plots.js';

/**
 * The document with its table rebuilt.
 *
 * @param read the text of `bench/results/NAME.txt`, by NAME.
 */
export function withDetectionSummary(document, read) {
  const rows = [falsePagesRow, recallRow, blameRow, delayRow, releasesRow, fleetRow, driftRow].map(
    (row) => row(read),
  );
  const table = ['| measure | result | recorded |', '|---|---|---|', ...rows].join('\n');
  return betweenMarks(document, 'detection-summary', table, 'bench/results/');
}

function row(measure, result, name, results) {
  const [date] = /^\d{4}-\d\d-\d\d/m.exec(results) ?? [''];
  return `| ${measure} | ${result} | [${date}](../bench/results/${name}.txt) |`;
}

function rowOf(results, head, name) {
  const found = tableOf(results, head).find((each) => each.name === name);
  if (found === undefined) throw new Error(`The results have lost their row: ${name}`);
  return found;
}

const grouped = (digits) => Number(digits).toLocaleString('en');

function falsePagesRow(read) {
  const results = read('eval-false-pages');
  const all = rowOf(results, 'traffic with nothing wrong', 'all');
  const result =
    `${all['false pages']} in ${grouped(all['series-weeks'])} series-weeks: ${all['per 1,000 series-weeks']} per 1,000 ` +
    `(at most ${all['at most (95 %)']}, 95 %)`;
  return row('false pages, nothing wrong', result, 'eval-false-pages', results);
}

function recallRow(read) {
  const results = read('eval-faults');
  const all = rowOf(results, 'fault', 'all');
  const result = `${all['recall of those']} of the ${grouped(all['oracle finds'])} faults that the oracle finds`;
  return row('recall, against an oracle that knows the traffic', result, 'eval-faults', results);
}

function blameRow(read) {
  const results = read('eval-faults');
  const all = rowOf(results, 'fault', 'all');
  const result = `${all['stage blamed']} of the faults found`;
  return row('right stage blamed', result, 'eval-faults', results);
}

function delayRow(read) {
  const results = read('eval-faults');
  const all = rowOf(results, 'fault', 'all');
  const result = `${all['median delay, s']} s, ${all['over the oracle’s']} times the oracle’s`;
  return row('median delay, 3 requests a second', result, 'eval-faults', results);
}

function releasesRow(read) {
  const results = read('eval-releases');
  const rows = tableOf(results, 'what is released').map((each) => each['as wanted'].split(' of '));
  const sum = (at) => rows.reduce((total, parts) => total + Number(parts[at]), 0);
  return row('releases evaluated as wanted', `${sum(0)} of ${sum(1)}`, 'eval-releases', results);
}

function fleetRow(read) {
  const results = read('eval-kinds');
  const all = rowOf(results, 'what goes wrong', 'all');
  const kinds = tableOf(results, 'what goes wrong').length - 1;
  const result = `${all.emitted ?? all.told} of ${all.faults}; pages per fault: ${all['pages per fault']}`;
  return row(`faults found in a fleet, of ${kinds} kinds`, result, 'eval-kinds', results);
}

function driftRow(read) {
  const results = read('eval-drift');
  const rows = tableOf(results, 'what gets slower').filter(({ name }) => !/too little/.test(name));
  const slow = rows.filter((each) => each['median hours until then'] !== '–');
  const sum = (column) => slow.reduce((total, each) => total + Number(each[column]), 0);
  return row(
    'slow drift found',
    `${sum(slow[0]?.told === undefined ? 'emitted' : 'told')} of ${sum('series')}`,
    'eval-drift',
    results,
  );
}
