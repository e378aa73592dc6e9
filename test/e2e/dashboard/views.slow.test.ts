import { describe, expect, it } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { type Look, problemsOfViews } from './kit/drawn-views.ts';
import { useDashboard } from './kit/seeded-dashboard.ts';
import { useBrowser } from './kit/use-browser.ts';

const browser = useBrowser();
const dashboard = useDashboard(useStack());

describe('each view', () => {
  it.each<Look>([
    { theme: 'dark', width: 1280 },
    { theme: 'light', width: 400 },
  ])('is drawn, accessible, no wider than the window: $theme, $width px', async (look) => {
    expect(await problemsOfViews(browser, dashboard.url(), look)).toEqual([]);
  });
});
