import { useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { AnomaliesAnswer, ModelRow, ModelsAnswer } from '../../data/answers.ts';
import { type Asked, questionPath, rangeParams, useAnswer } from '../../data/use-answer.ts';
import { formatCount, plural } from '../../format/number.ts';
import { sorted, Table } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { tableOf } from '../../parts/table-of.ts';
import { ShownRange, windowsNote } from '../../parts/windows-note.tsx';
import { place, setParams } from '../../state/place.ts';
import { modelColumns } from './model-columns.tsx';
import { type AnomaliesOfModels, anomaliesOfModels } from './open-anomalies.ts';

/** Rows before "Show more". */
const pageRows = 100;
const defaultSort = '-ratio';
/** Pause after a key before the server is asked. */
const typingMs = 300;

/** A row a model: traffic, failures, quantiles against the baseline, objective. */
export function ModelsPanel({
  answered,
  anomalies,
}: {
  readonly answered: Asked<ModelsAnswer>;
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
      empty={() => total === 0 && 'No requests of any model in this range.'}
      partial={partialNote}
      table={numbersOf}
    >
      {(answer) => (
        <Models {...{ answer, total }} anomalies={anomaliesOfModels(anomalies?.rows ?? [])} />
      )}
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
  readonly anomalies: AnomaliesOfModels;
}

function Models({ answer, total, anomalies }: ModelsProps) {
  const shown = useSignal(pageRows);
  const { filter = '', sort = defaultSort } = place.value.params;
  const columns = modelColumns(answer, anomalies);
  const bySort = sorted(answer.rows.filter(matches(filter)), columns, sort);
  const urgency = ({ model }: ModelRow) => anomalies.rankOf(model);
  // Models with an open anomaly come first, unless the reader has chosen an order.
  const found = sort === defaultSort ? bySort.toSorted((a, b) => urgency(a) - urgency(b)) : bySort;
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
        <Table
          caption="Models, with the percentiles of the range against their baseline"
          columns={columns}
          rows={found.slice(0, shown.value)}
          keyOf={({ model }) => model}
          sort={sort}
          onSort={(next) => setParams({ sort: next === defaultSort ? undefined : next })}
        />
      )}
      {found.length > 0 && <p class="hint legend">{legend}</p>}
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

/** The lines in words, and the requests that are counted. */
const legend =
  'Warm requests only. Lines: dashed is the baseline, orange 1.3 times it or more, shaded an incident.';

function matches(filter: string): (row: ModelRow) => boolean {
  const wanted = filter.toLowerCase();
  return ({ model }) => model.toLowerCase().includes(wanted);
}

/** Percentiles that are lower bounds: "p99". */
const boundColumn = [
  'at least',
  ({ at_least }: ModelRow) => at_least.map((name) => name.replace('_ms', '')).join(', '),
] as const;

const numbersOf = ({ rows }: ModelsAnswer) =>
  tableOf(rows, [
    'model',
    ['counted by', 'counted_stage'],
    'requests',
    ['requests/s', 'requests_per_second'],
    'failed',
    ['p50 ms', 'p50_ms'],
    ['p95 ms', 'p95_ms'],
    ['p99 ms', 'p99_ms'],
    ...(rows.some(({ at_least }) => at_least.length > 0) ? [boundColumn] : []),
    ['baseline p99 ms', 'baseline_p99_ms'],
    ['baseline of', 'baseline_of'],
    ['p99 / baseline', 'ratio'],
    ['budget left', ({ objective }) => objective?.budget_left ?? null],
  ]);
