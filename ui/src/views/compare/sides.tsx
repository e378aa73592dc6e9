import type { CompareAnswer, VersionRow } from '../../data/answers.ts';
import { shownName } from '../../format/name.ts';
import { formatCount } from '../../format/number.ts';
import { Choice, withChosen } from '../../parts/choice.tsx';
import { hrefTo, hrefWith, place, setParams } from '../../state/place.ts';
import { isOfTimes } from '../../state/url.ts';

interface Props {
  readonly model: string;
  /** Versions with requests in the range, the newest first. */
  readonly rows: readonly VersionRow[];
  readonly answer: CompareAnswer | undefined;
}

/** Which versions are compared, to choose from; or that two times are. */
export function Sides({ model, rows, answer }: Props) {
  const { params } = place.value;
  const ofTimes = isOfTimes(place.value);
  return (
    <form class="filters" aria-label="Sides" onSubmit={(event) => event.preventDefault()}>
      {(['a.version', 'b.version'] as const).map((key) => (
        <Choice
          key={key}
          name={key === 'a.version' ? 'A' : 'B'}
          value={params[key] ?? ''}
          options={[
            ...(ofTimes ? [['', 'all versions'] as const] : []),
            ...(!ofTimes && params[key] === undefined ? [['', 'choose a version'] as const] : []),
            ...withChosen(
              rows.map(({ version }) => version),
              params[key],
            ).map((version) => [version, shownName(version) + requestsOf(rows, version)] as const),
          ]}
          onChoose={(version) => setParams({ [key]: version })}
        />
      ))}
      {answer !== undefined && <a href={hrefWith(swapped(params))}>Swap</a>}
      {ofTimes && (
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
      <a href={hrefTo({ view: 'model', model })}>What {shownName(model)} is made of</a>
      {rows.length === 1 && !ofTimes && (
        <span class="hint">
          This range has one version only. Choose a longer one, or select a time in the chart of{' '}
          {shownName(model)}.
        </span>
      )}
    </form>
  );
}

function requestsOf(rows: readonly VersionRow[], version: string): string {
  const row = rows.find((known) => known.version === version);
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
