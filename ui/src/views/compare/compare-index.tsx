import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { CompareAnswer, VersionRow, VersionsAnswer } from '../../data/answers.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { shownName } from '../../format/name.ts';
import { plural } from '../../format/number.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { tableOf } from '../../parts/table-of.ts';
import { ShownRange } from '../../parts/windows-note.tsx';
import { hrefTo, onlyPanel } from '../../state/place.ts';
import { compareQuestion, versionsQuestion } from './compare-question.ts';
import { byModel, defaultSides, liveVersions } from './default-sides.ts';

/** Comparisons of one page, one after another: each reads two versions of a model. Others are a click away. */
const mostCompared = 6;

/** Which models have two versions with requests now, and how the newest compares with the one before it. */
export function CompareIndex() {
  const answered = useAnswer<VersionsAnswer>(versionsQuestion());
  /** Comparisons that are answered: the next one is asked for then. */
  const done = useSignal(0);
  const { answer } = answered.value;
  const models = [...byModel(answer?.rows ?? [])];
  const compared = models
    .filter(([, rows]) => liveVersions(rows).length >= 2)
    .sort(([, x], [, y]) => requestsOf(y) - requestsOf(x));
  const others = models.filter(([, rows]) => liveVersions(rows).length < 2);
  return (
    <>
      {onlyPanel.value === undefined && <PageTitle text={titleOf(answer, compared.length)} />}
      {answer !== undefined && <ShownRange answer={answer} />}
      <Panel
        name="versions"
        title="The newest version against the one before it"
        answered={answered}
        empty={() =>
          compared.length === 0 &&
          'No model has two versions with requests at the end of this range.'
        }
        table={({ rows }) =>
          tableOf(rows, [
            ...(['model', 'version'] as const),
            ['first seen', 'first_seen'],
            ['last seen', 'last_seen'],
            'requests',
            ['live', ({ is_live }) => (is_live ? 'yes' : 'no')],
          ])
        }
      >
        {() => (
          <ul class="verdicts">
            {compared.map(([model, rows], i) => (
              <Compared
                key={model}
                {...{ model, rows, isListed: i < mostCompared }}
                isAsked={i < mostCompared && i <= done.value}
                onDone={() => {
                  done.value = Math.max(done.peek(), i + 1);
                }}
              />
            ))}
          </ul>
        )}
      </Panel>
      {onlyPanel.value === undefined && others.length > 0 && (
        <section class="others">
          <h2>Other models</h2>
          <ul class="choices" aria-label="Other models">
            {others.map(([model, rows]) => (
              <li key={model}>
                <a data-row href={hrefTo({ view: 'compare' }, { model })}>
                  {shownName(model)}
                </a>{' '}
                <span class="hint">{plural(rows.length, 'version')} in this range</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function requestsOf(rows: readonly VersionRow[]): number {
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

function titleOf(answer: VersionsAnswer | undefined, compared: number): string {
  if (answer === undefined) return 'Compare versions';
  if (answer.rows.length === 0) return 'Nothing to compare: no requests in this range';
  return compared === 0
    ? 'No model has two versions live'
    : `${plural(compared, 'model has', 'models have')} two versions live`;
}

interface Props {
  readonly model: string;
  readonly rows: readonly VersionRow[];
  /** True if its turn is to come; `isAsked`: it has come. */
  readonly isListed: boolean;
  readonly isAsked: boolean;
  readonly onDone: () => void;
}

function Compared({ model, rows, isListed, isAsked, onDone }: Props) {
  const sides = defaultSides(rows, {}) ?? {};
  const { 'a.version': a = '', 'b.version': b = '' } = sides;
  const answered = useAnswer<CompareAnswer>(
    isAsked ? compareQuestion(model, { 'a.version': a, 'b.version': b }) : undefined,
  );
  const { failure, isLoading } = answered.value;
  // The answer to another question would stand beside the names of this one.
  const answer = isLoading ? undefined : answered.value.answer;
  const isDone = answer !== undefined || failure !== undefined;
  useEffect(() => {
    if (isDone) onDone();
  }, [isDone]);
  return (
    <li class="verdict-row">
      <a data-row href={hrefTo({ view: 'compare' }, { model, ...sides })}>
        {shownName(model)}
      </a>
      <span class="hint">
        B {shownName(b)} against A {shownName(a)}
      </span>
      {answer !== undefined && (
        <span class={`tag ${answer.verdict === 'fail' ? 'critical' : 'resolved'}`}>
          {answer.verdict}
        </span>
      )}
      <p>
        {answer?.title ?? failure?.text ?? (isListed ? 'Comparing…' : 'Open it to compare them.')}
      </p>
    </li>
  );
}
