import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { AnomaliesAnswer, AnomalyRow } from '../../../../src/views/answers/anomalies.ts';
import type { ModelRow, ModelsAnswer } from '../../../../src/views/answers/models.ts';
import { type Answered, questionPath, rangeParams, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import {
  formatCount,
  formatExactShare,
  formatMs,
  formatRatio,
  formatShare,
  hollowReason,
  isHollow,
  msFormat,
  plural,
  threeDigits,
} from '../../format/number.ts';
import { type Column, SortedTable, sorted } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RatioScale, RatioStrip } from '../../parts/ratio-strip.tsx';
import { Quantile, Value } from '../../parts/value.tsx';
import { ShownRange, windowsNote } from '../../parts/windows-note.tsx';
import { hrefTo, place, setParams } from '../../state/place.ts';
import { bySeverity } from './incidents.tsx';

/** Rows before "Show more". */
const pageRows = 100;
const defaultSort = '-ratio';
/** Pause after a key before the server is asked. */
const typingMs = 300;
const trendName = 'p99 / baseline over time';
const totalStage = 'total';
/** Ratios from here on are marked. */
const slowRatio = 1.3;

/** A row a model: traffic, failures, quantiles against the baseline, objective. */
export function ModelsPanel({
  answered,
  anomalies,
}: {
  readonly answered: ReadonlySignal<Answered<ModelsAnswer>>;
  readonly anomalies: AnomaliesAnswer | undefined;
}) {
  const { answer: all } = answered.value;
  const total = all?.total_models ?? 0;
  const isCut = all !== undefined && total > all.rows.length;
  const { filter = '' } = place.value.params;
  const model_contains = useTyped(filter);
  const found = useAnswer<ModelsAnswer>(
    isCut && model_contains !== ''
      ? questionPath('models', { ...rangeParams(), model_contains })
      : undefined,
  );
  return (
    <Panel
      name="models"
      title="Models"
      answered={isCut && filter !== '' ? found : answered}
      minHeight={160}
      tools={<Filter total={total} />}
      empty={() => (total === 0 ? 'No requests of any model in this range.' : undefined)}
      partial={partialNote}
      table={(answer) => tableOf(answer)}
    >
      {(answer) => <Models {...{ answer, total }} open={openSeverities(anomalies)} />}
    </Panel>
  );
}

/** A text as it was when the last key was pressed a moment ago. */
function useTyped(text: string): string {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return typed;
}

/** "2,000 of 12,345 models, those with the most requests." */
function partialNote(answer: ModelsAnswer): string | undefined {
  const { rows, total_models } = answer;
  const cut =
    total_models > rows.length
      ? `${formatCount(rows.length)} of ${plural(total_models, 'model')}, those with the most requests.`
      : undefined;
  return [cut, windowsNote(answer)].filter((note) => note !== undefined).join(' ') || undefined;
}

function Filter({ total }: { readonly total: number }) {
  if (total === 0) return null;
  return (
    <input
      type="search"
      data-filter
      placeholder="filter  /"
      aria-label="Filter models by name"
      value={place.value.params.filter ?? ''}
      onInput={({ currentTarget }) => setParams({ filter: currentTarget.value }, { replace: true })}
    />
  );
}

interface ModelsProps {
  readonly answer: ModelsAnswer;
  /** Models in the range, also those that the answer leaves out. */
  readonly total: number;
  readonly open: OpenSeverities;
}

/** Severity of the worst open incident by model. */
type OpenSeverities = ReadonlyMap<string, AnomalyRow['severity']>;

function openSeverities(anomalies: AnomaliesAnswer | undefined): OpenSeverities {
  const open = anomalies?.rows.filter(({ resolved_at }) => resolved_at === null) ?? [];
  // The last one of a model stays: the most severe.
  return new Map(
    open
      .toSorted(bySeverity)
      .toReversed()
      .map(({ model, severity }) => [model, severity]),
  );
}

function Models({ answer, total, open }: ModelsProps) {
  const shown = useSignal(pageRows);
  const { filter = '', sort = defaultSort } = place.value.params;
  const columns = columnsOf(answer, open).filter(hasContent(answer));
  const hasTrend = columns.some(({ key }) => key === 'trend');
  const found = sorted(answer.rows.filter(matches(filter)), columns, sort);
  return (
    <>
      <ShownRange answer={answer} />
      {found.length === 0 ? (
        <p class="notice">
          No model's name has “{filter}” in it.{' '}
          <button
            type="button"
            class="small"
            onClick={() => setParams({ filter: undefined }, { replace: true })}
          >
            Remove the filter
          </button>
        </p>
      ) : (
        <SortedTable
          caption="Models, with the quantiles of the range against their baseline"
          columns={columns}
          rows={found.slice(0, shown.value)}
          keyOf={({ model }) => model}
          sort={sort}
          onSort={(next) => setParams({ sort: next === defaultSort ? undefined : next })}
        />
      )}
      {hasTrend && found.length > 0 && <RatioScale of={trendName} />}
      <p class="hint count">
        {found.length === total
          ? plural(found.length, 'model')
          : `${formatCount(found.length)} of ${plural(total, 'model')}`}
        {found.length > shown.value && (
          <button
            type="button"
            class="small"
            onClick={() => {
              shown.value += pageRows;
            }}
          >
            Show {Math.min(pageRows, found.length - shown.value)} more
          </button>
        )}
      </p>
    </>
  );
}

/** Leaves out columns that no model has anything in: of baselines in the first days, of objectives. */
function hasContent({ rows }: ModelsAnswer): (column: Column<ModelRow>) => boolean {
  const hasTrend = rows.some(({ trend }) => trend.some((value) => value !== null));
  const hasObjective = rows.some(({ objective }) => objective !== null);
  return ({ key }) => (key !== 'trend' || hasTrend) && (key !== 'budget' || hasObjective);
}

function matches(filter: string): (row: ModelRow) => boolean {
  const wanted = filter.toLowerCase();
  return ({ model }) => model.toLowerCase().includes(wanted);
}

function columnsOf({ rows }: ModelsAnswer, open: OpenSeverities): readonly Column<ModelRow>[] {
  const { unit, format } = msFormat(rows.flatMap((row) => [row.p50_ms, row.p95_ms, row.p99_ms]));
  const quantile = (name: string, q: number, of: (row: ModelRow) => number | null) => ({
    key: name,
    class: q < 0.99 ? 'wide-only' : '',
    head: name,
    unit,
    isNumber: true,
    sortBy: of,
    cell: (row: ModelRow) => (
      <Quantile q={q} ms={of(row)} requests={row.requests}>
        {format(of(row))}
      </Quantile>
    ),
  });
  return [
    {
      key: 'model',
      head: 'Model',
      sortBy: ({ model }) => model,
      class: 'name',
      cell: ({ model }) => (
        <>
          <a data-row href={hrefTo({ view: 'model', model })}>
            {shownName(model)}
          </a>
          {open.has(model) && <span class={`tag ${open.get(model)}`}>open</span>}
        </>
      ),
    },
    {
      key: 'rate',
      class: 'wide-only',
      head: 'Requests',
      unit: '/s',
      isNumber: true,
      sortBy: (row) => row.requests_per_second,
      cell: (row) => (
        <span title={plural(row.requests, 'request')}>
          <Value value={row.requests_per_second}>{threeDigits(row.requests_per_second)}</Value>
        </span>
      ),
    },
    {
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
    },
    quantile('p50', 0.5, (row) => row.p50_ms),
    quantile('p95', 0.95, (row) => row.p95_ms),
    quantile('p99', 0.99, (row) => row.p99_ms),
    {
      key: 'ratio',
      class: 'ratio-cell',
      head: 'p99 / baseline',
      isNumber: true,
      sortBy: ({ ratio }) => ratio,
      cell: (row) => <Ratio row={row} />,
    },
    {
      key: 'trend',
      head: trendName,
      class: 'trend',
      label: '',
      cell: ({ trend }) => <RatioStrip trend={trend} />,
    },
    {
      key: 'budget',
      head: 'Error budget left',
      sortBy: ({ objective }) => objective?.budget_left ?? null,
      class: 'objective',
      cell: (row) => <Objective row={row} />,
    },
  ];
}

/** Few requests are counted: a share of nine is none. */
function failedText({ failed, requests }: ModelRow): string {
  if (requests === 0) return '–';
  if (requests < 100 && failed > 0) return `${failed} of ${requests}`;
  return formatShare(failed / requests);
}

function Ratio({ row }: { readonly row: ModelRow }) {
  const { counted_stage, ratio, requests, baseline_p99_ms } = row;
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
  return (
    <span
      class={ratio >= slowRatio ? 'ratio slow' : 'ratio'}
      title={`Baseline p99: ${formatMs(baseline_p99_ms)}, of the same hours on the last 7 days`}
    >
      <Value value={ratio}>{formatRatio(ratio)}</Value>
    </span>
  );
}

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

function tableOf({ rows }: ModelsAnswer) {
  return {
    heads: [
      ...['model', 'counted by', 'requests', 'requests/s', 'failed', 'p50 ms', 'p95 ms', 'p99 ms'],
      ...['baseline p99 ms', 'p99 / baseline', 'budget left'],
    ],
    rows: rows.map((row) => [
      ...[row.model, row.counted_stage, row.requests, row.requests_per_second, row.failed],
      ...[row.p50_ms, row.p95_ms, row.p99_ms, row.baseline_p99_ms, row.ratio],
      row.objective?.budget_left ?? null,
    ]),
  };
}
