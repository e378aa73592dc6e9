import { computed } from '@preact/signals';
import { nowMs } from './now.ts';
import { place, setParams } from './place.ts';

/** True if times are shown in UTC; else in the viewer's zone. */
export const utc = computed(() => place.value.params.utc === '1');

/** The zone of the page, for texts of times. */
export const zone = computed(() => ({ utc: utc.value }));

/** The same with its clock, for times that are told apart from today's. */
export const zoneNow = () => ({ utc: utc.value, nowMs: nowMs() });

export function toggleUtc(): void {
  setParams({ utc: utc.value ? undefined : '1' }, { replace: true });
}
