import { place, setParams } from '../../state/place.ts';
import { paramOf } from '../../state/url.ts';

interface Props {
  readonly values: Readonly<Record<'version' | 'region' | 'request_type', readonly string[]>>;
  readonly stages: readonly string[];
}

const names = { version: 'Version', region: 'Region', request_type: 'Request type' } as const;
const starts = [
  ['warm', 'Warm'],
  ['cold', 'Cold starts'],
  ['all', 'All starts'],
] as const;

/** Which requests, and which stage of them. */
export function ModelFilters({ values, stages }: Props) {
  const { params } = place.value;
  const start = paramOf(params, 'start') ?? 'warm';
  const stage = paramOf(params, 'stage') ?? 'total';
  const isFiltered = [
    params.version,
    params.region,
    params.request_type,
    params.start,
    params.stage,
  ].some((value) => value !== undefined);
  return (
    <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      {(['version', 'region', 'request_type'] as const).map((key) => (
        <Choice
          key={key}
          name={names[key]}
          value={params[key] ?? ''}
          options={[['', 'all'], ...options(values[key], params[key])]}
          onChoose={(value) => setParams({ [key]: value })}
        />
      ))}
      <Choice
        name="Start"
        value={start}
        options={starts}
        onChoose={(value) => setParams({ start: value })}
      />
      <Choice
        name="Stage"
        value={stage}
        options={[['total', 'total'], ...options(stages, stage === 'total' ? undefined : stage)]}
        onChoose={(value) => setParams({ stage: value })}
      />
      {isFiltered && (
        <button
          type="button"
          class="small"
          onClick={() =>
            setParams({
              version: undefined,
              region: undefined,
              request_type: undefined,
              start: undefined,
              stage: undefined,
            })
          }
        >
          Clear filters
        </button>
      )}
    </form>
  );
}

type Option = readonly [value: string, text: string];

/** Values as options, the chosen one among them even where the range does not have it. */
function options(values: readonly string[], chosen: string | undefined): Option[] {
  const all = chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
  return all
    .filter((value) => value !== '' && value !== 'unaccounted')
    .map((value) => [value, value]);
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChoose: (value: string) => void;
}

function Choice({ name, value, options, onChoose }: ChoiceProps) {
  return (
    <label>
      {name}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
