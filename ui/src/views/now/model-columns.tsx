import { stageWord } from '../../../../src/contract/measure-unit.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import type { AnomalyRow, ModelRow, ModelsAnswer, Range } from '../../data/answers.ts';
import { shownName } from '../../format/name.ts';
import {
  formatCount,
  formatExactShare,
  formatMs,
  formatMsBeside,
  formatPerSecond,
  formatRatio,
  formatShare,
  hollowReason,
  isHollow,
  msCell,
  plural,
  quantileName,
  threeDigits,
} from '../../format/number.ts';
import { formatTime, stepName } from '../../format/time.ts';
import type { Column } from '../../parts/data-table.tsx';
import { Quantile, Value } from '../../parts/value.tsx';
import { nowMs } from '../../state/now.ts';
import { hrefTo } from '../../state/place.ts';
import { zoneNow } from '../../state/zone.ts';
import { endMsOf } from '../incident-end.ts';
import type { AnomaliesOfModels } from './open-anomalies.ts';

const totalStage = 'total';
/** Ratios from here on are marked. */
const slowRatio = 1.3;

/** Columns of the table of models; those of objectives are left out where no model has one. */
export function modelColumns(
  { rows, range }: ModelsAnswer,
  anomalies: AnomaliesOfModels,
): readonly Column<ModelRow>[] {
  const hasObjective = rows.some(({ objective }) => objective !== null);
  return [
    nameColumn(anomalies),
    ...rateColumns(range),
    failedColumn,
    quantileColumn('p50', 0.5, 'p50_ms'),
    quantileColumn('p95', 0.95, 'p95_ms'),
    quantileColumn('p99', 0.99, 'p99_ms'),
    {
      key: 'ratio',
      class: 'ratio-cell',
      head: 'p99 / baseline',
      isNumber: true,
      sortBy: ({ model, ratio }) => anomalies.openOf(model)?.tail?.ratio ?? ratio,
      cell: (row) => <Ratio row={row} open={anomalies.openOf(row.model)} />,
    },
    {
      head: 'p99 over time',
      class: 'trend',
      cell: (row) => <TailLine row={row} range={range} anomalies={anomalies.of(row.model)} />,
    },
    ...(hasObjective ? [objectiveColumn] : []),
  ];
}

function nameColumn(anomalies: AnomaliesOfModels): Column<ModelRow> {
  return {
    key: 'model',
    head: 'Model',
    sortBy: ({ model }) => model,
    class: 'name',
    cell: ({ model }) => {
      const open = anomalies.openOf(model);
      return (
        <>
          <a data-row href={hrefTo({ view: 'model', model })}>
            {shownName(model)}
          </a>
          {open !== undefined && (
            <>
              {' '}
              <span class={`tag ${open.severity}`}>open</span>
            </>
          )}
        </>
      );
    },
  };
}

const rateColumns = (range: Range): readonly Column<ModelRow>[] => [
  {
    key: 'rate',
    class: 'wide-only',
    head: 'Requests',
    unit: '/s',
    isNumber: true,
    sortBy: (row) => row.requests_per_second,
    cell: (row) => (
      <span title={plural(row.requests, 'request')}>
        <Value value={row.requests_per_second} as={threeDigits} />
      </span>
    ),
  },
  {
    class: 'wide-only trend of-rate',
    head: 'over time',
    cell: ({ rate_steps }) => (
      <Sparkline
        values={rate_steps}
        scale="zero"
        label={(least, most) =>
          `Requests over time: ${formatPerSecond(least)} to ${formatPerSecond(most)}, ${stepName((range.step_seconds ?? 0) * 1000)} a step`
        }
      />
    ),
  },
];

const failedColumn: Column<ModelRow> = {
  key: 'failed',
  class: 'wide-only',
  head: 'Failed',
  isNumber: true,
  sortBy: (row) => (row.requests > 0 ? row.failed / row.requests : null),
  cell: (row) => (
    <span title={`${formatCount(row.failed)} of ${plural(row.requests, 'request')}`}>
      <Value value={row.failed}>{failedText(row)}</Value>
    </span>
  ),
};

/** Few requests are counted: a share of nine is none. */
function failedText({ failed, requests }: ModelRow): string {
  if (requests === 0) return '–';
  if (requests < 100 && failed > 0) return `${failed} of ${requests}`;
  return formatShare(failed / requests);
}

function quantileColumn(
  name: string,
  q: number,
  field: ModelRow['at_least'][number],
): Column<ModelRow> {
  return {
    key: name,
    class: q < 0.99 ? 'wide-only' : '',
    head: name,
    isNumber: true,
    sortBy: (row) => row[field],
    cell: (row) => (
      <Quantile q={q} ms={row[field]} requests={row.requests}>
        {row.at_least.includes(field) && <abbr title="at least: requests were given up">≥ </abbr>}
        <Duration ms={row[field]} />
      </Quantile>
    ),
  };
}

/** A duration in its own unit: what is slow in one model makes the numbers of others no shorter. */
function Duration({ ms }: { readonly ms: number | null }) {
  if (ms === null) return <>–</>;
  const { text, unit } = msCell(ms);
  return (
    <>
      {text} <span class="cell-unit">{unit}</span>
    </>
  );
}

interface RatioProps {
  readonly row: ModelRow;
  readonly open: AnomalyRow | undefined;
}

function Ratio({ row, open }: RatioProps) {
  const { counted_stage, ratio, requests, baseline_p99_ms, baseline_of } = row;
  if (open?.tail != null) return <IncidentRatio tail={open.tail} />;
  if (counted_stage !== totalStage) {
    return (
      <span
        class="few"
        title={`Counted by ${shownName(counted_stage)}, the stage with most requests`}
      >
        stages only, no total
      </span>
    );
  }
  if (requests > 0 && isHollow(0.99, requests)) {
    return <span class="few">{hollowReason(0.99, requests)}</span>;
  }
  if (ratio === null) return <span class="none">no baseline</span>;
  const isOfDetector = baseline_of === 'detector';
  const what = isOfDetector
    ? "the detector's: its last hour, without incidents"
    : 'of the same hours on the last 7 days';
  return (
    <span
      class={ratio >= slowRatio ? 'ratio slow' : 'ratio'}
      title={`Baseline p99: ${formatMs(baseline_p99_ms)}, ${what}`}
    >
      <Value value={ratio} as={formatRatio} />
      {isOfDetector && <span class="of-baseline">detector's</span>}
    </span>
  );
}

/** Percentile of the column. */
const columnQuantile = 0.99;

/** The numbers of the open incident: those of its headline. */
function IncidentRatio({ tail }: { readonly tail: NonNullable<AnomalyRow['tail']> }) {
  const { stage, quantile, observed_ms, baseline_ms, ratio, cold_start, measured_at } = tail;
  const ofStage = stage === totalStage ? '' : ` of ${shownName(stageWord(stage))}`;
  const cold = cold_start ? ', cold starts' : '';
  const what = `${quantileName(quantile)}${ofStage}${cold}`;
  const asOf =
    measured_at === null ? '' : ` as of ${formatTime(Date.parse(measured_at), zoneNow())}`;
  const isAsColumn = stage === totalStage && quantile === columnQuantile;
  return (
    <span
      class="ratio slow"
      title={`Its open incident: ${what} is ${formatMs(observed_ms)}, baseline ${formatMsBeside(baseline_ms, observed_ms)}${asOf}`}
    >
      <Value value={ratio} as={formatRatio} />
      <span class="of-incident">{isAsColumn ? `incident${cold}` : `incident, ${what}`}</span>
    </span>
  );
}

interface TailLineProps {
  readonly row: ModelRow;
  readonly range: Range;
  readonly anomalies: readonly AnomalyRow[];
}

function TailLine({ row, range, anomalies }: TailLineProps) {
  const [fromMs, toMs] = [Date.parse(range.from), Date.parse(range.to)];
  const part = (ms: number) => Math.min(1, Math.max(0, (ms - fromMs) / (toMs - fromMs)));
  const spans = anomalies.map((anomaly) => ({
    from: part(Date.parse(anomaly.started_at)),
    to: part(endMsOf(anomaly) ?? nowMs()),
    severity: anomaly.severity,
  }));
  return (
    <Sparkline
      values={row.p99_steps_ms}
      baseline={row.baseline_steps_ms}
      scale="ratio"
      markedFrom={slowRatio}
      spans={spans}
      label={(least, most) =>
        `p99 over time: about ${roundedMs(least)} to ${roundedMs(most)}, ${stepName((range.step_seconds ?? 0) * 1000)} a step`
      }
    />
  );
}

/** Two digits: steps are read from bands. */
const roundedMs = (ms: number): string => formatMs(Number(ms.toPrecision(2)));

const objectiveColumn: Column<ModelRow> = {
  key: 'budget',
  head: 'Error budget left',
  sortBy: ({ objective }) => objective?.budget_left ?? null,
  class: 'objective',
  cell: (row) => <Objective row={row} />,
};

function Objective({ row: { objective } }: { readonly row: ModelRow }) {
  if (objective === null) return <span class="none">–</span>;
  const { budget_left: left, threshold_ms, good } = objective;
  const target = `${formatExactShare(objective.objective)} within ${formatMs(threshold_ms)}`;
  return (
    <span class="budget" title={`${objective.name}: ${target}; ${formatShare(good)} was`}>
      {left === null ? (
        <span class="none">–</span>
      ) : (
        <span class={left < 0 ? 'over' : ''}>
          <Value value={left}>{left < 0 ? `${formatShare(-left)} over` : formatShare(left)}</Value>
        </span>
      )}
      <span class="target">{target}</span>
    </span>
  );
}
