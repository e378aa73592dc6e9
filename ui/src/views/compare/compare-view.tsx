import type { ReadonlySignal } from '@preact/signals';
import type { CompareAnswer } from '../../../../src/views/answers/compare.ts';
import type { ModelsAnswer } from '../../../../src/views/answers/models.ts';
import { ShiftFunction } from '../../charts/shift-function.tsx';
import { type Answered, questionPath, rangeParams, useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { formatCount, formatShare } from '../../format/number.ts';
import { formatRange } from '../../format/time.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Value } from '../../parts/value.tsx';
import { nowMs } from '../../state/now.ts';
import { hrefTo, onlyPanel, place } from '../../state/place.ts';
import { utc } from '../../state/zone.ts';
import { compareQuestion } from './compare-question.ts';
import { Sides } from './sides.tsx';
import { StageChanges } from './stage-changes.tsx';

/** Whether B is worse than A, for whom, and in which stage. */
export function CompareView() {
  const { model } = place.value.params;
  const models = useAnswer<ModelsAnswer>(
    model === undefined ? questionPath('models', rangeParams()) : undefined,
  );
  if (model === undefined) return <ChooseModel answer={models.value.answer} />;
  return <Comparison key={model} model={model} />;
}

function ChooseModel({ answer }: { readonly answer: ModelsAnswer | undefined }) {
  return (
    <>
      <PageTitle text="Compare two versions or two times of a model" />
      <ul class="choices" aria-label="Models">
        {(answer?.rows ?? []).map(({ model }) => (
          <li key={model}>
            <a href={hrefTo({ view: 'compare' }, { model })}>{shownName(model)}</a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Comparison({ model }: { readonly model: string }) {
  const question = compareQuestion(model);
  const answered = useAnswer<CompareAnswer>(question);
  const isOnly = onlyPanel.value !== undefined;
  return (
    <>
      {!isOnly && (
        <>
          <CompareTitle model={model} isAsked={question !== undefined} answered={answered} />
          <Sides model={model} answer={answered.value.answer} />
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

interface Props {
  readonly answered: ReadonlySignal<Answered<CompareAnswer>>;
}

function CompareTitle({
  model,
  isAsked,
  answered,
}: Props & { readonly model: string; readonly isAsked: boolean }) {
  const { answer } = answered.value;
  if (!isAsked || answer === undefined) {
    return (
      <PageTitle
        text={
          isAsked ? `Comparing ${shownName(model)}` : `${shownName(model)}: choose what to compare`
        }
      />
    );
  }
  return <PageTitle text={`${shownName(model)}: ${answer.title}`} />;
}

/** Why the verdict is what it is, what is missing, and where the mixes differ. */
function Reason({ answered }: Props) {
  const { answer } = answered.value;
  if (answer === undefined) return null;
  return (
    <ul class="sentences reason">
      <li>{answer.reason}</li>
      {answer.verdict === 'inconclusive' && answer.missing_requests > 0 && (
        <li>
          About {formatCount(answer.missing_requests)} more requests are needed for a verdict.
        </li>
      )}
      {answer.mix.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

function ShiftPanel({ answered }: Props) {
  return (
    <Panel
      name="shift"
      title="B / A by percentile, 96 % interval"
      answered={answered}
      minHeight={330}
      empty={({ quantiles }) =>
        quantiles.every(({ ratio }) => ratio === null)
          ? 'A or B has no requests in its range.'
          : undefined
      }
      table={({ quantiles }) => ({
        heads: ['q', 'A, ms', 'B, ms', 'B / A', 'low', 'high'],
        rows: quantiles.map((point) => [
          ...[point.q, point.a_ms, point.b_ms],
          ...[point.ratio, point.ratio_low, point.ratio_high],
        ]),
      })}
    >
      {({ quantiles, like_with_like, a, b }) => (
        <ShiftFunction
          label={`${b.label} against ${a.label} by percentile`}
          points={quantiles}
          likeWithLike={like_with_like}
          names={{ a: 'A', b: 'B' }}
          requests={Math.min(a.requests, b.requests)}
        />
      )}
    </Panel>
  );
}

function SidesPanel({ answered }: Props) {
  return (
    <Panel
      name="sides"
      title="What is compared"
      answered={answered}
      table={({ a, b }) => ({
        heads: ['side', 'label', 'from', 'to', 'requests', 'failed share'],
        rows: [
          ['A', a.label, a.from, a.to, a.requests, a.failed_share],
          ['B', b.label, b.from, b.to, b.requests, b.failed_share],
        ],
      })}
    >
      {({ a, b }) => (
        <table class="cards">
          <caption class="sr">Both sides of the comparison</caption>
          <thead>
            <tr>
              <th scope="col">Side</th>
              <th scope="col">Time</th>
              <th scope="col" class="number">
                Requests
              </th>
              <th scope="col" class="number">
                Failed
              </th>
            </tr>
          </thead>
          <tbody>
            {(
              [
                ['A', a],
                ['B', b],
              ] as const
            ).map(([name, side]) => (
              <tr key={name}>
                <td class="name">
                  <b>{name}</b> {side.label}
                </td>
                <td data-label="Time">
                  {formatRange(
                    { fromMs: Date.parse(side.from), toMs: Date.parse(side.to) },
                    { utc: utc.value, nowMs: nowMs() },
                  )}
                </td>
                <td class="number" data-label="Requests">
                  <Value value={side.requests}>{formatCount(side.requests)}</Value>
                </td>
                <td class="number" data-label="Failed">
                  <Value value={side.failed_share}>{formatShare(side.failed_share)}</Value>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
