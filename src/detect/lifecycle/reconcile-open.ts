import type { AnomalyEvent } from '../event/anomaly-event.ts';

/** What is open by a detector's own judgement. */
interface Own {
  readonly event: AnomalyEvent;
  readonly announced: boolean;
  adopt(published: AnomalyEvent): void;
  unannounce(): void;
}

/**
 * Settles what is open by a detector's own judgement against what was told, which counts.
 *
 * @param open the last event of what is open by what was told, if anything is.
 * @param isKnown whether anything was told of an anomaly, by its id.
 * @returns `same`: it goes on as it is. `other`: what was told is to be restored in its place. `over`: it was
 * told to be resolved.
 */
export function reconcileOpen(
  own: Own | undefined,
  open: AnomalyEvent | undefined,
  isKnown: (id: string) => boolean,
): 'same' | 'other' | 'over' {
  const announced = own?.announced === true ? own : undefined;
  if (open !== undefined) {
    const isSame = announced?.event.id === open.id && announced.event.revision === open.revision;
    if (!isSame) return 'other';
    announced.adopt(open);
  } else if (announced !== undefined) {
    if (isKnown(announced.event.id)) return 'over';
    announced.unannounce();
  }
  return 'same';
}
