import { closestNames } from '../../series/closest-names.ts';
import type { ComparedMinute, VersionMinute } from '../compared-minute.ts';

/** Models and versions that have had requests at all, the latest first. */
export interface KnownNames {
  readonly model: string;
  /** Versions of the model. */
  readonly versions: readonly string[];
  /** Read where the model has no version. */
  readonly models: readonly string[];
  /** Days that were looked at. */
  readonly days: number;
}

interface Named {
  readonly candidate: string;
  readonly baseline: string;
  readonly minutes: readonly ComparedMinute[];
  readonly known?: KnownNames;
  /** Names of both sides in sentences. */
  readonly phrases: { readonly candidate: string; readonly baseline: string };
}

/** Says why no minute has requests of both versions: a name that was never seen, one that is not there now. */
export function absentReason({ candidate, baseline, minutes, known, phrases }: Named): string {
  if (known !== undefined && known.versions.length === 0) {
    const { model, models, days } = known;
    return `no request of model ${model} in the last ${days} d${knownText('models', model, models)}`;
  }
  const unseen = [candidate, baseline].filter((name) => known?.versions.includes(name) === false);
  const [first] = unseen;
  if (known !== undefined && first !== undefined) {
    const { model, versions, days } = known;
    const names = unseen.join(' and ');
    const what = `version${unseen.length === 1 ? '' : 's'} ${names} of model ${model}`;
    const others = versions.filter((name) => name !== candidate && name !== baseline);
    const listed = others.length > 0 ? others : versions;
    return `no request of ${what} in the last ${days} d${knownText('versions', first, listed)}`;
  }
  const has = (of: (minute: ComparedMinute) => VersionMinute | undefined) =>
    minutes.some((minute) => (of(minute)?.requests ?? 0) > 0);
  const missing = [
    ...(has((minute) => minute.candidate) ? [] : [phrases.candidate]),
    ...(has((minute) => minute.baseline) ? [] : [phrases.baseline]),
  ];
  if (missing.length === 1) return `no request of ${missing[0]} in the compared range`;
  return `no minute has requests of both ${phrases.candidate} and ${phrases.baseline}`;
}

function knownText(what: string, word: string, names: readonly string[]): string {
  return names.length === 0 ? '' : `; known ${what}: ${closestNames(word, names)}`;
}
