import type { VersionRow } from '../../data/answers.ts';

interface Sides {
  readonly 'a.version'?: string | undefined;
  readonly 'b.version'?: string | undefined;
}

/**
 * The versions that a comparison opens with: B is the newest one, A the one before it. Where two have
 * requests now, the others are left out. A side that is chosen stays.
 *
 * @param rows of one model, the newest first
 * @returns undefined where nothing is to be chosen, or there is nothing to choose.
 */
export function defaultSides(rows: readonly VersionRow[], chosen: Sides): Sides | undefined {
  const { 'a.version': a, 'b.version': b } = chosen;
  if (a !== undefined && b !== undefined) return undefined;
  if (b !== undefined) {
    const at = rows.findIndex(({ version }) => version === b);
    const older = rows.slice(at + 1)[0] ?? rows.find(({ version }) => version !== b);
    return older && { 'a.version': older.version, 'b.version': b };
  }
  if (a !== undefined) {
    const newest = rows.find(({ version }) => version !== a);
    return newest && { 'a.version': a, 'b.version': newest.version };
  }
  const live = liveVersions(rows);
  const [newest, before] = live.length >= 2 ? live : rows;
  if (newest === undefined || before === undefined) return undefined;
  return { 'a.version': before.version, 'b.version': newest.version };
}

export function liveVersions(rows: readonly VersionRow[]): readonly VersionRow[] {
  return rows.filter(({ is_live }) => is_live);
}

/** Versions by model, in the order of their rows. */
export function byModel(rows: readonly VersionRow[]): ReadonlyMap<string, readonly VersionRow[]> {
  const models = new Map<string, VersionRow[]>();
  for (const row of rows) models.set(row.model, [...(models.get(row.model) ?? []), row]);
  return models;
}
