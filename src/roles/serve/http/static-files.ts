import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from 'hono';
import { isPagePath, movedPath } from '../../../base/dashboard-paths.ts';
import { acceptedEncodings } from './accepted-encodings.ts';
import { isKnown } from './read-request.ts';

/** The folder in which `bin/prepare.js` builds the interface, from `src/` and from `dist/`. */
const builtAt = fileURLToPath(new URL('../../../../dist/ui/', import.meta.url));

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/plain; charset=utf-8',
};

type Headers = Readonly<Record<string, string>>;
/** Bytes as responses take them. */
type Bytes = Uint8Array<ArrayBuffer>;

interface StaticFile {
  readonly headers: Headers & { readonly etag: string };
  readonly plain: Bytes;
  /** Made by the build; undefined for what does not get smaller. */
  readonly br: Bytes | undefined;
  readonly gzip: Bytes | undefined;
}

/**
 * The interface: files of `dist/ui`, kept in memory from the first request on. `serveStatic` of Hono has no
 * ETag, names no `Vary` beside plain files, and reads the disk each time.
 */
export class StaticFiles {
  readonly #root: string;
  readonly #frameAncestors: readonly string[];
  #files: ReadonlyMap<string, StaticFile> | undefined;

  /** @param frameAncestors origins whose pages may embed the dashboard; none by default. */
  constructor(frameAncestors: readonly string[], root = builtAt) {
    this.#root = root;
    this.#frameAncestors = frameAncestors;
  }

  /** True for a path of the interface. */
  has(path: string): boolean {
    return isPagePath(path) || movedPath(path) !== undefined || path.startsWith('/assets/');
  }

  /** Answers GET and HEAD of a path that `has`. */
  respond(context: Context): Response {
    const { pathname, search } = new URL(context.req.url);
    const moved = movedPath(pathname);
    if (moved !== undefined) {
      const location = `${moved}${search}`;
      return context.body(null, 308, { ...safety, location, 'cache-control': 'no-cache' });
    }
    this.#files ??= readFiles(this.#root);
    // All pages are the same file, which reads the address.
    const name = pathname.startsWith('/assets/') ? pathname.slice(1) : 'index.html';
    const file = this.#files.get(name);
    if (file === undefined) {
      const text =
        name === 'index.html'
          ? 'The dashboard is not built: run node bin/prepare.js.\n'
          : 'There is no such file.\n';
      const headers = { 'content-type': 'text/plain', 'cache-control': 'no-store' };
      return context.body(text, 404, { ...safety, ...headers });
    }
    const headers = { ...safety, ...this.#policy(), ...file.headers, vary: 'accept-encoding' };
    if (isKnown(context, file.headers.etag)) return context.body(null, 304, headers);
    const [encoding, body] = encoded(file, context.req.header('accept-encoding'));
    return context.body(body, 200, {
      ...headers,
      ...(encoding && { 'content-encoding': encoding }),
      'content-length': String(body.length),
    });
  }

  #policy(): Headers {
    const ancestors = this.#frameAncestors.length === 0 ? "'none'" : this.#frameAncestors.join(' ');
    return {
      'content-security-policy':
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; " +
        `frame-ancestors ${ancestors}`,
    };
  }
}

const safety: Headers = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** All files below a folder by their path; none where it is not there. */
function readFiles(root: string): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  for (const name of namesIn(root)) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const plain = new Uint8Array(readFileSync(join(root, name)));
    const isFingerprinted = name.startsWith('assets/');
    files.set(name.replaceAll('\\', '/'), {
      plain,
      br: readIfThere(join(root, `${name}.br`)),
      gzip: readIfThere(join(root, `${name}.gz`)),
      headers: {
        'content-type': type,
        etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
        'cache-control': isFingerprinted ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    });
  }
  return files;
}

function namesIn(root: string): readonly string[] {
  try {
    return readdirSync(root, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
}

function readIfThere(path: string): Bytes | undefined {
  try {
    return new Uint8Array(readFileSync(path));
  } catch {
    return undefined;
  }
}

/** The smallest form that the browser takes. */
function encoded(file: StaticFile, accepted: string | undefined): [string, Bytes] {
  const taken = acceptedEncodings(accepted);
  if (taken.has('br') && file.br !== undefined) return ['br', file.br];
  if (taken.has('gzip') && file.gzip !== undefined) return ['gzip', file.gzip];
  return ['', file.plain];
}
