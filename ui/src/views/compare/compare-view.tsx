import { useEffect } from 'preact/hooks';
import { incidentIsOpen, notLikeWithLike } from '../../../../src/contract/compared-times.ts';
import {
  goodputOfSide,
  thresholdsText,
} from '../../../../src/contract/objectives/objective-text.ts';
import { ShiftFunction } from '../../charts/shift-function.tsx';
import type {
  AnomalyAnswer,
  CompareAnswer,
  VersionRow,
  VersionsAnswer,
} from '../../data/answers.ts';
import { type Asked, questionPath, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { formatCount, formatShare } from '../../format/number.ts';
import { formatRange } from '../../format/time.ts';
import { type Column, Table } from '../../parts/data-table.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type PlainColumn, tableOf } from '../../parts/table-of.ts';
import { Sentence } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';
import { onlyPanel, place, setParams } from '../../state/place.ts';
import { isOfTimes } from '../../state/url.ts';
import { zoneNow } from '../../state/zone.ts';
import { comparisonWithBefore } from '../incident/incident-question.ts';
import { IncidentContext } from '../incident-context.tsx';
import { knownModels, UnknownModel } from '../unknown-model.tsx';
import { CompareIndex } from './compare-index.tsx';
import { compareQuestion, versionsQuestion } from './compare-question.ts';
import { defaultSides } from './default-sides.ts';
import { Sides } from './sides.tsx';
import { StageChanges } from './stage-changes.tsx';

/** The comparison: whether B is worse than A, for whom, and in which stage. */
export function CompareView() {
  const { model, incident } = place.value.params;
  if (model !== undefined) return <Comparison key={model} model={model} />;
  return incident === undefined ? <CompareIndex /> : <IncidentComparison id={incident} />;
}

/** Opens the comparison of an incident with before; the index where it has none. */
function IncidentComparison({ id }: { readonly id: string }) {
  const answered = useAnswer<AnomalyAnswer>(
    questionPath(`anomalies/${encodeURIComponent(id)}`, {}),
  );
  const { answer, isLoading } = answered.value;
  const compared = answer && comparisonWithBefore(answer);
  const key = JSON.stringify(compared);
  useEffect(() => {
    if (compared !== undefined) setParams(compared, { replace: true });
  }, [key]);
  if (isLoading || compared !== undefined) return <PageTitle text="Comparing with before" />;
  return (
    <>
      <IncidentContext />
      <CompareIndex />
    </>
  );
}

function Comparison({ model }: { readonly model: string }) {
  const versions = useAnswer<VersionsAnswer>(versionsQuestion(model));
  const rows = versions.value.answer?.rows;
  useNewestSides(versions.value.isLoading ? undefined : rows);
  const question = compareQuestion(model, place.value.params);
  const answered = useAnswer<CompareAnswer>(question);
  const isOnly = onlyPanel.value !== undefined;
  const known = knownModels(versions.value.failure ?? answered.value.failure);
  if (known !== undefined) return <UnknownModel model={model} known={known} view="compare" />;
  return (
    <>
      {!isOnly && (
        <>
          <IncidentContext />
          <CompareTitle {...{ model, rows, answered }} isAsked={question !== undefined} />
          <Sides model={model} rows={rows ?? []} answer={answered.value.answer} />
        </>
      )}
      {question !== undefined && (
        <>
          {!isOnly && <Reason answered={answered} />}
          <div class="columns columns-compare">
            <div class="stack">
              <ShiftPanel answered={answered} />
              <SidesPanel answered={answered} />
            </div>
            <StageChanges answered={answered} />
          </div>
        </>
      )}
    </>
  );
}

/** Opens with the newest version and the one before it; the address has them from then on. */
function useNewestSides(rows: readonly VersionRow[] | undefined): void {
  const at = place.value;
  const sides = rows === undefined || isOfTimes(at) ? undefined : defaultSides(rows, at.params);
  const key = JSON.stringify(sides);
  useEffect(() => {
    if (sides !== undefined) setParams(sides, { replace: true });
  }, [key]);
}

interface Props {
  readonly answered: Asked<CompareAnswer>;
}

interface TitleProps extends Props {
  readonly model: string;
  /** Versions with requests in the range; undefined before they are known. */
  readonly rows: readonly VersionRow[] | undefined;
  readonly isAsked: boolean;
}

function CompareTitle({ model, rows, isAsked, answered }: TitleProps) {
  const { answer } = answered.value;
  const name = shownName(model);
  if (isAsked) {
    return (
      <PageTitle text={answer === undefined ? `Comparing ${name}` : `${name}: ${answer.title}`} />
    );
  }
  if (rows === undefined) return <PageTitle text={name} />;
  const [first] = rows;
  const what =
    first === undefined
      ? 'no requests in this range'
      : rows.length === 1
        ? `one version in this range, ${shownName(first.version)}`
        : 'choose two versions';
  return <PageTitle text={`${name}: ${what}`} />;
}

/** The reason for the verdict, and the differences of the mixes. */
function Reason({ answered }: Props) {
  const { answer } = answered.value;
  if (answer === undefined) return null;
  return (
    <ul class="sentences reason">
      {answer.incident !== null && (
        <li>
          B is the time of the incident, {timeOf(answer.b)}; A is {answer.incident.a_is},{' '}
          {timeOf(answer.a)}.{answer.incident.is_open && ` ${incidentIsOpen}`}
        </li>
      )}
      <li>
        <Sentence text={answer.reason} />
      </li>
      {answer.goodput.map(({ name, thresholds, a, b }) => (
        <li key={name}>
          Goodput of A {goodputOfSide(a)}, of B {goodputOfSide(b)}: {thresholdsOf(thresholds)}.
        </li>
      ))}
      {answer.mix.length > 0 && <li>{notLikeWithLike}</li>}
      {answer.mix.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

function thresholdsOf(all: CompareAnswer['goodput'][number]['thresholds']): string {
  return thresholdsText(Object.fromEntries(all.map(({ stage, ms }) => [stage, ms])));
}

/** The version of a side, or its time in the zone of the page. */
function sideName(side: CompareAnswer['a']): string {
  return side.label === side.version ? side.version : timeOf(side);
}

function timeOf({ from, to }: CompareAnswer['a']): string {
  return formatRange({ fromMs: Date.parse(from), toMs: Date.parse(to) }, zoneNow());
}

/** Says which side's percentile is a lower bound. */
const boundColumn: PlainColumn<CompareAnswer['quantiles'][number]> = [
  'at least',
  (at) => [at.a_at_least ? 'A' : '', at.b_at_least ? 'B' : ''].filter(Boolean).join(', '),
];

function ShiftPanel({ answered }: Props) {
  // The test of an incident gives no interval of a percentile.
  const hasIntervals = answered.value.answer?.incident === null;
  return (
    <Panel
      name="shift"
      title={`B / A by percentile${hasIntervals ? ', 96 % interval' : ''}`}
      answered={answered}
      minHeight={330}
      empty={({ quantiles }) =>
        quantiles.every(({ ratio }) => ratio === null) && 'A or B has no requests in its range.'
      }
      table={({ quantiles }) =>
        tableOf(quantiles, [
          'q',
          ['A, ms', 'a_ms'],
          ['B, ms', 'b_ms'],
          ...(quantiles.some((at) => at.a_at_least || at.b_at_least) ? [boundColumn] : []),
          ['B / A', 'ratio'],
          ...(hasIntervals ? intervalColumns : []),
        ])
      }
    >
      {({ quantiles, like_with_like, a, b }) => (
        <ShiftFunction
          label={`${sideName(b)} against ${sideName(a)} by percentile`}
          points={quantiles}
          likeWithLike={like_with_like}
          requests={Math.min(a.requests, b.requests)}
          hasIntervals={hasIntervals}
        />
      )}
    </Panel>
  );
}

const intervalColumns = [
  ['low', 'ratio_low'],
  ['high', 'ratio_high'],
] as const;

function SidesPanel({ answered }: Props) {
  return (
    <Panel
      name="sides"
      title="What is compared"
      answered={answered}
      table={({ a, b }) =>
        tableOf(
          [
            { ...a, side: 'A' },
            { ...b, side: 'B' },
          ],
          ['side', 'label', 'from', 'to', 'requests', ['failed share', 'failed_share']],
        )
      }
    >
      {({ a, b }) => (
        <Table
          caption="Both sides of the comparison"
          columns={sideColumns}
          rows={[
            ['A', a],
            ['B', b],
          ]}
          keyOf={([name]) => name}
        />
      )}
    </Panel>
  );
}

const sideColumns: readonly Column<readonly [name: string, side: CompareAnswer['a']]>[] = [
  {
    head: 'Side',
    class: 'name',
    cell: ([name, { version }]) => (
      <>
        <b>{name}</b> {version === null ? 'all versions' : shownName(version)}
      </>
    ),
  },
  { head: 'Time', cell: ([, side]) => timeOf(side) },
  {
    head: 'Requests',
    isNumber: true,
    cell: ([, { requests }]) => <Value value={requests} as={formatCount} />,
  },
  {
    head: 'Failed',
    isNumber: true,
    cell: ([, { failed_share }]) => <Value value={failed_share} as={formatShare} />,
  },
];
