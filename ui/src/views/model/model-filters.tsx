import { ownLabels } from '../../../../src/contract/format.ts';
import { stageLabel } from '../../../../src/contract/measure-unit.ts';
import { Choice, type Option, withChosen } from '../../parts/choice.tsx';
import { place, setParams } from '../../state/place.ts';
import { paramOf } from '../../state/url.ts';

interface Props {
  readonly values: Readonly<Record<'version' | 'region' | 'request_type', readonly string[]>>;
  /** Parts first, then milestones and times per token. */
  readonly stages: readonly string[];
}

const names = { version: 'Version', region: 'Region', request_type: 'Request type' } as const;
const starts = [
  ['warm', 'Warm'],
  ['cold', 'Cold starts'],
  ['all', 'All starts'],
] as const;

const filterKeys = ['version', 'region', 'request_type', 'attributes', 'start', 'stage'] as const;

/** Which requests, and which stage of them. */
export function ModelFilters({ values, stages }: Props) {
  const { params } = place.value;
  const start = paramOf(params, 'start') ?? 'warm';
  const stage = paramOf(params, 'stage') ?? 'total';
  const isFiltered = filterKeys.some((key) => params[key] !== undefined);
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
      {params.attributes !== undefined && (
        <Choice
          name="Own dimensions"
          value={params.attributes}
          options={[['', 'all'], ...options([], params.attributes, ownText)]}
          onChoose={(value) => setParams({ attributes: value })}
        />
      )}
      <Choice
        name="Start"
        value={start}
        options={starts}
        onChoose={(value) => setParams({ start: value })}
      />
      <Choice
        name="Stage"
        value={stage}
        options={[
          ['total', 'total'],
          ...options(stages, stage === 'total' ? undefined : stage, stageLabel),
        ]}
        onChoose={(value) => setParams({ stage: value })}
      />
      {isFiltered && (
        <button
          type="button"
          class="small"
          onClick={() => setParams(Object.fromEntries(filterKeys.map((key) => [key, undefined])))}
        >
          Clear filters
        </button>
      )}
    </form>
  );
}

/** "adapter=lora-7, pool=a". */
const ownText = (attributes: string) => ownLabels({ attributes }).join(', ');

/** Values as options, without those that cannot be asked for. */
function options(
  values: readonly string[],
  chosen: string | undefined,
  textOf = (value: string) => value,
): Option[] {
  return withChosen(values, chosen)
    .filter((value) => value !== '' && value !== 'unaccounted')
    .map((value) => [value, textOf(value)]);
}
