import type { Failure } from '../data/poll.ts';
import { shownName } from '../format/name.ts';
import { PageTitle } from '../parts/page-title.tsx';
import { hrefTo } from '../state/place.ts';

/** The names of models that are stored, where an answer says that one is not. */
export function knownModels(failure: Failure | undefined): readonly string[] | undefined {
  return failure?.names?.unknown === 'model' ? failure.names.known : undefined;
}

interface Props {
  readonly model: string;
  /** The most similar one first. */
  readonly known: readonly string[];
  readonly view: 'model' | 'compare';
}

/** A page about a model that no request has: which ones there are. */
export function UnknownModel({ model, known, view }: Props) {
  return (
    <>
      <PageTitle text={`There is no model ${shownName(model)}`} />
      <p>
        {known.length === 0
          ? 'No request of any model is stored.'
          : 'No request of it is stored. These models have some, the most similar name first:'}
      </p>
      <ul class="choices" aria-label="Known models">
        {known.map((name) => (
          <li key={name}>
            <a
              data-row
              href={
                view === 'model' ? hrefTo({ view, model: name }) : hrefTo({ view }, { model: name })
              }
            >
              {shownName(name)}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
