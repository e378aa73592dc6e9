import { type FalsePages, type FaultsFound, falsePagesOf, foundOf } from '../evaluation.ts';
import type { FaultOutcome } from '../judge-series.ts';
import type { Mechanism } from './mechanism.ts';
import { mechanismFaultKinds } from './mechanism-faults.ts';
import { mechanisms } from './mechanisms.ts';
import type { MechanismOutcome } from './run-mechanism.ts';

const groups = ['development', 'held out'] as const;

/**
 * Renders false pages and faults by mechanism, and faults by kind, as Markdown tables: each group apart. Of
 * rows that are not shown no name is printed, so that a development run says nothing of the others.
 */
export function renderMechanisms(outcomes: readonly MechanismOutcome[]): string {
  return groups
    .map((group) => ({ group, own: mechanisms.filter((mechanism) => mechanism.group === group) }))
    .flatMap(({ group, own }) => {
      const names = own.map(({ name }) => name);
      const some = outcomes.filter(({ family }) => names.includes(family));
      return some.length === 0 ? [] : [`### ${group}`, '', ...groupLines(own, some)];
    })
    .join('\n');
}

function groupLines(own: readonly Mechanism[], outcomes: readonly MechanismOutcome[]): string[] {
  const calm = outcomes.filter(({ faultsFromDay }) => faultsFromDay === undefined);
  const faulty = outcomes.filter(({ faultsFromDay }) => faultsFromDay !== undefined);
  const ofName = <T extends { readonly family: string }>(all: readonly T[], name: string) =>
    all.filter(({ family }) => family === name);
  const present = (all: readonly MechanismOutcome[]) =>
    own.filter(({ name }) => ofName(all, name).length > 0);
  const faultsOf = (some: readonly MechanismOutcome[]) =>
    some.flatMap(({ family, faults }) => faults.map((fault) => withFollowers(family, fault)));
  const all = faultsOf(faulty);
  const kinds = mechanismFaultKinds
    .map((kind) =>
      foundOf(
        kind,
        all.filter((fault) => fault.kind === kind),
      ),
    )
    .filter(({ faults }) => faults > 0);
  const claimed = faulty.filter(({ shams }) => shams !== undefined);
  const shams = claimed.reduce((sum, outcome) => sum + (outcome.shams ?? 0), 0);
  return [
    ...(calm.length === 0
      ? []
      : table(falseHead, [
          ...present(calm).map(({ name, says }) =>
            falseCells(`${name}: ${says}`, falsePagesOf(name, ofName(calm, name))),
          ),
          falseCells('**all**', falsePagesOf('all', calm)),
        ])),
    ...(faulty.length === 0
      ? []
      : [
          ...table(faultHead('mechanism'), [
            ...present(faulty).map(({ name }) =>
              faultCells(foundOf(name, faultsOf(ofName(faulty, name)))),
            ),
            faultCells(foundOf('**all**', all)),
          ]),
          ...table(faultHead('fault'), kinds.map(faultCells)),
          `The oracle in hindsight claims ${shams} of ${faultsOf(claimed).length} stretches without a fault.`,
          `Pages while nothing was wrong: ${faulty.reduce((sum, { falsePages }) => sum + falsePages.length, 0)}.`,
          '',
        ]),
  ];
}

/** A stage that a slower one makes longer is right, too. */
function withFollowers(family: string, fault: FaultOutcome): FaultOutcome {
  const followers = mechanisms.find(({ name }) => name === family)?.followers ?? [];
  return followers.includes(fault.blamed ?? '') ? { ...fault, blamed: fault.stage } : fault;
}

const falseHead = ['nothing wrong', 'series-weeks', 'false pages', 'per 1,000', 'at most (95 %)'];
const falseCells = (name: string, row: FalsePages) => [
  name,
  number(row.seriesWeeks),
  `${row.pages}`,
  number(row.perThousand),
  number(row.atMost),
];

const faultHead = (of: string) => [
  of,
  ...['faults', 'too small to page', 'oracle finds', 'of these found', 'recall'],
  ...['median delay, s', 'over the oracle’s', 'stage blamed', 'pages a fault'],
];
const faultCells = (row: FaultsFound) => [
  row.name,
  ...[`${row.faults}`, `${row.small}`, `${row.oracle}`],
  Number.isNaN(row.recall) ? '–' : `${Math.round(row.recall * row.oracle)}`,
  percent(row.recall),
  number(row.medianDelayMs / 1000),
  number(row.medianOverOracle),
  percent(row.blamed),
  number(row.pagesPerFault),
];

const number = (n: number) => (Number.isNaN(n) ? '–' : Number(n.toPrecision(3)).toString());
const percent = (n: number) => (Number.isNaN(n) ? '–' : `${(n * 100).toFixed(1)} %`);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|---|${'---:|'.repeat(head.length - 1)}`, ...rows.map(line), ''];
}
