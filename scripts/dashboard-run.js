// Runs a Kafka, a ClickHouse and tailmark of its own for the scripts that photograph the dashboard. Writes
// pictures of its pages, light and dark, 1280 wide. chromium itself writes WebP.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const width = 1280;
const maxBytes = 150_000;
/** Largest first: the first one whose picture is small enough. */
const qualities = [0.8, 0.7, 0.6];

const bin = fileURLToPath(new URL('../bin/tailmark.js', import.meta.url));
const target = process.argv[2] ?? fileURLToPath(new URL('../docs/images', import.meta.url));
const browserPath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
  (path) => path !== undefined && existsSync(path),
);

const children = [];
export const dir = mkdtempSync(join(tmpdir(), 'tailmark-draw-'));
export const say = (text) => process.stdout.write(`${text}\n`);
let env = process.env;

/**
 * Starts Kafka and ClickHouse, draws, and ends all that was started.
 *
 * @param settings environment of all commands.
 */
export async function withServers(draw, settings = {}) {
  if (browserPath === undefined) {
    process.stderr.write('No chromium: install it, or name it in CHROMIUM.\n');
    process.exit(69);
  }
  try {
    say('starting Kafka and ClickHouse');
    const servers = start(['up', '--json', '--dir', dir], 'inherit');
    const { brokers, clickhouse } = await endpointsOf(servers);
    env = {
      ...process.env,
      ...settings,
      TAILMARK_KAFKA_BROKERS: brokers,
      TAILMARK_CLICKHOUSE_URL: clickhouse,
      TAILMARK_HTTP_LISTEN: '127.0.0.1:0',
      TAILMARK_LOG_LEVEL: 'warn',
    };
    await run(['migrate']);
    await draw(clickhouse);
  } finally {
    for (const child of children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    }
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Waits until what was sent is stored up to now. */
export function untilStored(clickhouse) {
  return poll('traffic that is stored up to now', async () => {
    const [age] = await query(
      clickhouse,
      "SELECT dateDiff('second', max(watermark), now()) < 20 FROM flushes HAVING count() > 0",
    );
    return age === '1' || undefined;
  });
}

/** Starts the detector and the dashboard; returns its address. */
export async function serve() {
  const port = await freePort();
  env = { ...env, TAILMARK_HTTP_LISTEN: `127.0.0.1:${port}` };
  start(['run', '--roles', 'detect,serve'], 'ignore');
  return `http://127.0.0.1:${port}`;
}

/**
 * Writes pictures of pages by their names.
 *
 * @param maxHeight a longer page ends after the last panel that fits.
 */
export async function photograph(url, pages, maxHeight = 1_200) {
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
  });
  try {
    for (const theme of ['light', 'dark']) {
      const context = await browser.newContext({
        ...{ viewport: { width, height: 400 }, colorScheme: theme, baseURL: url },
        ...{ timezoneId: 'UTC', locale: 'en-GB' },
      });
      const page = await context.newPage();
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(path);
        await page.locator('[data-panel]').first().waitFor({ state: 'attached' });
        await poll(`a page that is drawn: ${path}`, async () =>
          (await page.locator('[data-state="loading"]').count()) === 0 ? true : undefined,
        );
        const clip = { x: 0, y: 0, width, height: await page.evaluate(panelsEnd, maxHeight) };
        const png = await page.screenshot({ fullPage: true, clip });
        const { webp, quality } = await compressed(browser, png);
        const file = `${name}-${theme}.webp`;
        writeFileSync(join(target, file), webp);
        say(
          `${file}  ${width} × ${clip.height}  ${Math.ceil(webp.length / 1_000)} kB, quality ${quality}`,
        );
      }
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

/** Where the last panel ends that fits, in the page: pixels from its top, with a margin. */
function panelsEnd(most) {
  const ends = [...document.querySelectorAll('[data-panel]')].map(
    (panel) => Math.ceil(panel.getBoundingClientRect().bottom + scrollY) + 7,
  );
  return Math.max(...ends.filter((end) => end <= most), 400);
}

/** A picture as WebP of at most `maxBytes`, by the browser's own encoder. */
async function compressed(browser, png) {
  const page = await browser.newPage();
  try {
    for (const quality of qualities) {
      const encoded = await page.evaluate(
        async ([data, chosen]) => {
          const image = await createImageBitmap(await (await fetch(data)).blob());
          const canvas = new OffscreenCanvas(image.width, image.height);
          canvas.getContext('2d').drawImage(image, 0, 0);
          const blob = await canvas.convertToBlob({ type: 'image/webp', quality: chosen });
          return Array.from(new Uint8Array(await blob.arrayBuffer()));
        },
        [`data:image/png;base64,${png.toString('base64')}`, quality],
      );
      if (encoded.length <= maxBytes) return { webp: Buffer.from(encoded), quality };
    }
  } finally {
    await page.close();
  }
  throw new Error(`a picture is larger than ${maxBytes} bytes at quality ${qualities.at(-1)}`);
}

/** Starts a command of tailmark that runs until the end. */
export function start(argv, stderr) {
  const child = spawn(process.execPath, [bin, ...argv], {
    env,
    cwd: dir,
    stdio: ['ignore', 'pipe', stderr],
  });
  children.push(child);
  return child;
}

/** Runs a command of tailmark to its end. */
export async function run(argv) {
  const child = start(argv, 'inherit');
  child.stdout.resume();
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`tailmark ${argv[0]} ended with ${code}`);
}

/** The addresses that `tailmark up --json` prints. */
async function endpointsOf(child) {
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const { kafka, clickhouse } = await poll('Kafka and ClickHouse', async () => {
    if (child.exitCode !== null) throw new Error(`tailmark up ended with ${child.exitCode}`);
    return text.endsWith('\n') ? JSON.parse(text) : undefined;
  });
  return { brokers: kafka.brokers.join(','), clickhouse: clickhouse.url };
}

export async function ask(url, path) {
  const response = await fetch(url + path);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Lines of a query's answer. */
export async function query(clickhouse, sql) {
  const response = await fetch(`${clickhouse}/?database=tailmark`, { method: 'POST', body: sql });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text.split('\n');
}

/** Asks until there is an answer; errors count as none. */
export async function poll(what, get, deadlineMs = 300_000) {
  const untilMs = Date.now() + deadlineMs;
  let last = '';
  while (Date.now() < untilMs) {
    const found = await get().catch((error) => {
      last = String(error);
    });
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`no ${what} within ${deadlineMs / 1_000} s. ${last}`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
