import type { CompareAnswer } from '../../../../src/views/answers/compare.ts';
import type { TailsAnswer } from '../../../../src/views/answers/tails.ts';
import { questionPath, rangeParams, useAnswer } from '../../data/use-answer.ts';
import { formatCount } from '../../format/number.ts';
import { hrefTo, hrefWith, place, setParams } from '../../state/place.ts';

interface Props {
  readonly model: string;
  readonly answer: CompareAnswer | undefined;
}

/** Which versions are compared, to choose from; or that two times are. */
export function Sides({ model, answer }: Props) {
  const { params } = place.value;
  const versions = useAnswer<TailsAnswer>(
    questionPath('tails', { ...rangeParams(), model, by: 'version', q: '0.99' }),
  );
  const rows = versions.value.answer?.rows ?? [];
  const isOfTimes = params['a.from'] !== undefined;
  return (
    <form class="filters" aria-label="Sides" onSubmit={(event) => event.preventDefault()}>
      {(['a.version', 'b.version'] as const).map((key) => (
        <label key={key}>
          {key === 'a.version' ? 'A' : 'B'}
          <select
            value={params[key] ?? ''}
            onChange={(event) => setParams({ [key]: event.currentTarget.value })}
          >
            <option value="" selected={params[key] === undefined}>
              {isOfTimes ? 'all versions' : 'choose a version'}
            </option>
            {withChosen(
              rows.map(({ by }) => by),
              params[key],
            ).map((version) => (
              <option key={version} value={version} selected={version === params[key]}>
                {version}
                {requestsOf(rows, version)}
              </option>
            ))}
          </select>
        </label>
      ))}
      {answer !== undefined && <a href={hrefWith(swapped(params))}>Swap</a>}
      {isOfTimes && (
        <a
          href={hrefWith({
            'a.from': undefined,
            'a.to': undefined,
            'b.from': undefined,
            'b.to': undefined,
          })}
        >
          Compare versions instead
        </a>
      )}
      <a href={hrefTo({ view: 'model', model })}>{model}</a>
      {rows.length === 1 && !isOfTimes && (
        <span class="hint">
          This range has one version only. Choose a longer one, or select a time in the chart of{' '}
          {model}.
        </span>
      )}
    </form>
  );
}

function withChosen(versions: readonly string[], chosen: string | undefined): readonly string[] {
  return chosen === undefined || versions.includes(chosen) ? versions : [chosen, ...versions];
}

function requestsOf(rows: TailsAnswer['rows'], version: string): string {
  const row = rows.find(({ by }) => by === version);
  return row === undefined ? '' : ` (${formatCount(row.requests)})`;
}

type Params = typeof place.value.params;

function swapped(params: Params) {
  return {
    'a.version': params['b.version'],
    'b.version': params['a.version'],
    'a.from': params['b.from'],
    'a.to': params['b.to'],
    'b.from': params['a.from'],
    'b.to': params['a.to'],
  };
}
