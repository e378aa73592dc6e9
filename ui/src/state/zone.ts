import { computed } from '@preact/signals';
import { place, setParams } from './place.ts';

/** True if times are shown in UTC; else in the viewer's zone. */
export const utc = computed(() => place.value.params.utc === '1');

export function toggleUtc(): void {
  setParams({ utc: utc.value ? undefined : '1' }, { replace: true });
}
