import { useSignal } from '@preact/signals';
import { stageWord } from '../../../src/contract/measure-unit.ts';
import type { RequestRow, RequestsAnswer, TypicalRequest } from '../data/answers.ts';
import { shownName } from '../format/name.ts';
import { formatCount, formatMs, formatSignedMs, msFormat, plural } from '../format/number.ts';
import { Time } from '../parts/time.tsx';
import { Value } from '../parts/value.tsx';
import { place, setParams } from '../state/place.ts';
import { stageClass } from './composition/stage-colors.ts';
import {
  hasTokens,
  listedMilestones,
  listedStages,
  milestoneTicksOf,
  type StageBar,
  stageBarsOf,
} from './geometry/request-bars.ts';

interface Props {
  readonly caption: string;
  readonly requests: RequestsAnswer['rows'];
  /** Failed requests by status; `requests` has the slowest of them last. */
  readonly failed: RequestsAnswer['failed'];
  readonly typical: readonly TypicalRequest[];
  /** Stage that is orange in all charts of the page. */
  readonly focus: string | null;
  /** Stage that the requests are ordered by; null for their total. */
  readonly stage?: string | null;
}

/** Requests that are listed before all are asked for. */
const shownFirst = 10;

/**
 * The slowest requests: a stacked bar each; one opened shows its stages beside those of typical requests.
 * Failed ones stand apart, and are counted as in all other numbers of the page: a time-out is as long as its
 * limit.
 */
export function RequestList({ caption, requests, failed, ...rest }: Props) {
  const hasAll = useSignal(false);
  const hasFailed = useSignal(false);
  const answered = answeredRequests({ rows: requests, failed });
  const failures = requests.slice(answered.length);
  const opened = place.value.params.at;
  const isOpened = (request: RequestRow) => keyOf(request) === opened;
  const isBelow = answered.slice(shownFirst).some(isOpened);
  const shown = hasAll.value || isBelow ? answered : answered.slice(0, shownFirst);
  const isOpen = hasFailed.value || answered.length === 0 || failures.some(isOpened);
  return (
    <div class="chart chart-requests">
      {shown.length > 0 && <RequestTable {...rest} caption={caption} requests={shown} />}
      {shown.length > 0 && <MoreThanMedian {...rest} />}
      {shown.length < answered.length && (
        <button
          type="button"
          class="small more"
          onClick={() => {
            hasAll.value = true;
          }}
        >
          Show all {answered.length}
        </button>
      )}
      {failed.length > 0 && (
        <p class="hint">
          Failed requests are listed apart: {failuresText(failed)}. Every percentile, share and
          count of this page includes them.
        </p>
      )}
      {failures.length > 0 && (
        <>
          <button
            type="button"
            class="small more failures"
            aria-expanded={isOpen}
            onClick={() => {
              hasFailed.value = !isOpen;
            }}
          >
            {isOpen ? '▾' : '▸'} The slowest {failures.length} of them that are kept
          </button>
          {isOpen && <RequestTable {...rest} caption={`${caption}: failed`} requests={failures} />}
        </>
      )}
    </div>
  );
}

/** Requests that did not fail: the first of the list. */
export function answeredRequests({ rows, failed }: Pick<RequestsAnswer, 'rows' | 'failed'>) {
  return rows.filter((row) => failed.every(({ status }) => status !== row.status));
}

const nouns: Readonly<Record<string, string>> = { timeout: 'time-out', error: 'error' };

/** "340 time-outs, 3 errors". */
function failuresText(failed: RequestsAnswer['failed']): string {
  return failed
    .toSorted((a, b) => b.requests - a.requests)
    .map(({ status, requests }) => plural(requests, nouns[status] ?? status))
    .join(', ');
}

type TableProps = Omit<Props, 'failed'>;

function RequestTable({ caption, requests, typical, focus, stage = null }: TableProps) {
  const opened = place.value.params.at;
  const most = Math.max(1, ...requests.map(({ total_ms }) => total_ms));
  const { unit, format } = msFormat([most]);
  const withTokens = hasTokens(requests);
  return (
    <>
      <div class="chart-legend">
        {listedStages(requests).map((name) => (
          <span key={name} class="chart-key-static">
            <i class={`chart-swatch ${stageClass(name, focus)}`} />
            {shownName(name)}
          </span>
        ))}
        {listedMilestones(requests).map((name) => (
          <span key={name} class="chart-key-static">
            <i class="tick-milestone" />
            {shownName(name)}
          </span>
        ))}
      </div>
      <table class="requests">
        <caption class="sr">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col" class="number">
              Total, {unit}
            </th>
            <th scope="col" class="requests-bar">
              Stages
            </th>
            <th scope="col" class="request-note">
              {stage === null ? 'Longest' : `In ${shownName(stageWord(stage))}`}
            </th>
            {withTokens && (
              <th scope="col" class="number" title="Tokens of the prompt, and of the answer">
                Tokens in, out
              </th>
            )}
            <th scope="col">Status</th>
            <th scope="col">Host</th>
            <th scope="col">Trace</th>
          </tr>
        </thead>
        <tbody>
          {requests.map((request) => {
            const key = keyOf(request);
            const isOpen = opened === key;
            return (
              <RequestLine
                key={key}
                {...{ request, typical, focus, stage, isOpen, withTokens }}
                total={format(request.total_ms)}
                scale={most}
                unit={unit}
                onToggle={() => setParams({ at: isOpen ? undefined : key }, { replace: true })}
              />
            );
          })}
        </tbody>
      </table>
    </>
  );
}

/** A request in the address of the page, where it is the opened one. */
function keyOf({ at, request_id }: RequestRow): string {
  return `${at} ${request_id}`.trim();
}

interface LineProps {
  readonly request: RequestRow;
  readonly typical: readonly TypicalRequest[];
  readonly focus: string | null;
  readonly stage: string | null;
  readonly total: string;
  readonly unit: string;
  readonly scale: number;
  readonly isOpen: boolean;
  readonly withTokens: boolean;
  readonly onToggle: () => void;
}

function RequestLine(props: LineProps) {
  const { request, typical, focus, stage, total, unit, scale, isOpen, withTokens, onToggle } =
    props;
  const typicalAt = (q: number) => typical.find((known) => known.q === q);
  const stagesAt = (q: number) => typicalAt(q)?.stages ?? [];
  const milestonesAt = (q: number) => typicalAt(q)?.milestones ?? [];
  const bars = stageBarsOf(request.stages, request.total_ms, stagesAt(0.5), stagesAt(0.99));
  const reached = stageBarsOf(
    request.milestones,
    request.total_ms,
    milestonesAt(0.5),
    milestonesAt(0.99),
  );
  const worst = bars.reduce<StageBar | undefined>(
    (most, bar) => (bar.ms > (most?.ms ?? 0) ? bar : most),
    undefined,
  );
  return (
    <>
      <tr>
        <td>
          <Time at={request.at} />
        </td>
        <td class="number" data-unit={unit}>
          <Value value={request.total_ms}>{total}</Value>
        </td>
        <td class="requests-bar">
          <button
            type="button"
            class="request-toggle"
            aria-expanded={isOpen}
            aria-label={`${sentenceOf(request, worst)}. Stages beside typical requests`}
            onClick={onToggle}
          >
            <span class="request-bar" style={{ width: `${(request.total_ms / scale) * 100}%` }}>
              {request.stages.map(({ stage, ms }) => (
                <i
                  key={stage}
                  class={stageClass(stage, focus)}
                  style={{ width: `${(ms / request.total_ms) * 100}%` }}
                  title={`${stage} ${formatMs(ms)}`}
                />
              ))}
              {milestoneTicksOf(request.milestones, request.total_ms).map(({ stage, ms, at }) => (
                <b
                  key={stage}
                  class="tick-milestone"
                  style={{ left: `${at * 100}%` }}
                  title={`${stage} ${formatMs(ms)}`}
                />
              ))}
            </span>
          </button>
        </td>
        <td class="request-note">
          {stage === null ? (
            worst !== undefined && `${shownName(worst.stage)} ${formatMs(worst.ms)}`
          ) : (
            <StageTime
              ms={request.stage_ms}
              medianMs={medianOf(stage, [...stagesAt(0.5), ...milestonesAt(0.5)])}
            />
          )}
          {request.cold_start && ', cold start'}
        </td>
        {withTokens && (
          <td class="number request-tokens">
            {formatCount(request.input_tokens)}, {formatCount(request.output_tokens)}
          </td>
        )}
        <td>{request.status}</td>
        <td class="requests-name">{shownName(request.host) || '–'}</td>
        <td class="requests-name">
          {request.trace_url === null ? (
            <code>{request.trace_id || '–'}</code>
          ) : (
            <a href={request.trace_url}>{request.trace_id}</a>
          )}
        </td>
      </tr>
      {isOpen && (
        <tr class="request-detail">
          <td colSpan={withTokens ? 8 : 7}>
            <StageBars bars={bars} milestones={reached} focus={focus} />
          </td>
        </tr>
      )}
    </>
  );
}

/** Time in the stage that requests are ordered by, and how much more that is than in a median request. */
function StageTime({ ms, medianMs }: { readonly ms: number; readonly medianMs: number | null }) {
  return (
    <>
      <Value value={ms}>
        <b>{formatMs(ms)}</b>
      </Value>
      {medianMs !== null && <span class="hint"> {formatSignedMs(ms - medianMs)}</span>}
    </>
  );
}

/** What the signed times of a chosen stage are beside. */
function MoreThanMedian({ typical, stage = null }: Pick<Props, 'typical' | 'stage'>) {
  const median = typical.find(({ q }) => q === 0.5);
  const parts = [...(median?.stages ?? []), ...(median?.milestones ?? [])];
  const ms = stage === null ? null : medianOf(stage, parts);
  if (stage === null || ms === null) return null;
  return (
    <p class="hint">
      “+” and “−” are beside {formatMs(ms)}, the time in {shownName(stageWord(stage))} of a median
      request of the range shown here.
    </p>
  );
}

function medianOf(stage: string, stages: TypicalRequest['stages']): number | null {
  return stages.find((known) => known.stage === stage)?.ms ?? null;
}

/** A bar a part and a tick a milestone, with ticks where requests of the median and of p99 are. */
function StageBars({
  bars,
  milestones,
  focus,
}: {
  readonly bars: readonly StageBar[];
  readonly milestones: readonly StageBar[];
} & Pick<Props, 'focus'>) {
  const all = [...bars, ...milestones];
  const most = Math.max(
    1,
    ...all.flatMap(({ ms, medianMs, p99Ms }) => [ms, medianMs ?? 0, p99Ms ?? 0]),
  );
  const { unit, format } = msFormat([most]);
  const percent = (ms: number) => `${(ms / most) * 100}%`;
  return (
    <table class="stages">
      <caption class="sr">Stages of this request beside typical requests</caption>
      <thead>
        <tr>
          <th scope="col">Stage</th>
          <th scope="col" class="stages-track">
            <span class="chart-key-static">
              <i class="tick-median" />
              median
            </span>
            <span class="chart-key-static">
              <i class="tick-p99" />
              p99
            </span>
          </th>
          <th scope="col" class="number">
            This, {unit}
          </th>
          <th scope="col" class="number">
            Median
          </th>
          <th scope="col" class="number">
            p99
          </th>
        </tr>
      </thead>
      <tbody>
        {all.map(({ stage, ms, medianMs, p99Ms, isOdd }, i) => (
          <tr key={stage} data-odd={isOdd}>
            <th scope="row">{stage}</th>
            <td class="stages-track">
              <span class="stage-track">
                {i < bars.length ? (
                  <i
                    class={`stage-bar ${stageClass(stage, focus)}`}
                    style={{ width: percent(ms) }}
                  />
                ) : (
                  <i class="tick-milestone" style={{ left: percent(ms) }} />
                )}
                {medianMs !== null && <i class="tick-median" style={{ left: percent(medianMs) }} />}
                {p99Ms !== null && <i class="tick-p99" style={{ left: percent(p99Ms) }} />}
              </span>
            </td>
            <td class="number">
              <Value value={ms}>{format(ms)}</Value>
            </td>
            <td class="number">
              <Value value={medianMs}>{format(medianMs)}</Value>
            </td>
            <td class="number">
              <Value value={p99Ms}>{format(p99Ms)}</Value>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function sentenceOf(request: RequestRow, worst: StageBar | undefined): string {
  return `Request of ${formatMs(request.total_ms)}${worst === undefined ? '' : `, ${shownName(worst.stage)} ${formatMs(worst.ms)}`}`;
}
