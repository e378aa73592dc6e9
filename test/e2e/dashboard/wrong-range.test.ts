import { expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import { useStack } from '../../containers/stack.ts';
import { withRig } from '../kit/with-rig.ts';
import { store, trafficOf } from '../views/view-traffic.ts';
import { soon, untilDrawn, useBrowser } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();

it('a notice of times that cannot be read names the range that the picker names', () =>
  withRig({ stack, name: 'wrong-range' }, async (rig) => {
    const fromMs = Math.floor((Date.now() - 40 * minuteMs) / minuteMs) * minuteMs;
    await store(
      rig,
      trafficOf({ name: 'v1', model: 'ranker', version: 'v1', fromMs, requests: 300, minutes: 30 }),
    );
    const { url } = await rig.start(['ingest', 'serve']);
    const { page } = await browser.open(url);
    const named = async (path: string) => {
      await page.goto(path);
      await untilDrawn(page);
      const picked = page.locator('.time-picker .range-name');
      const notice = page.getByRole('alert');
      await soon(async () => {
        const name = ((await picked.textContent()) ?? '').trim();
        const [, shown] =
          /what is shown is (.*?)\. A time is/.exec((await notice.textContent()) ?? '') ?? [];
        return shown?.replace(/^the (time )?/, '') === name ? 'the same' : [shown, name];
      }).toBe('the same');
      return picked.textContent();
    };
    // No request is older: the range begins with the first one.
    expect(await named('/models/ranker?from=-30x')).toMatch(/^since \d\d:\d\d, the first data$/);
    expect(await named('/?from=-30x')).toMatch(/^since \d\d:\d\d, the first data$/);
    expect(await named('/models/ranker?from=-20m&to=soon')).toBe('last 20 min');
    expect(await named('/models/ranker?from=-30x&to=2026-11-25T10:00:00Z')).toBe(
      '25 Nov 05:00 – 11:00',
    );
  }));
