import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isPagePath, movedPath } from '../../base/dashboard-paths.ts';
import { acceptedEncodings } from './accepted-encodings.ts';

/** Where `bin/prepare.js` builds the interface, from `src/` and from `dist/`. */
const builtAt = fileURLToPath(new URL('../../../dist/ui/', import.meta.url));

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/plain; charset=utf-8',
};

interface StaticFile {
  readonly headers: OutgoingHttpHeaders;
  readonly plain: Buffer;
  /** Made by the build; undefined for what does not get smaller. */
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

/** The interface: files of `dist/ui`, kept in memory from the first request on. */
export class StaticFiles {
  readonly #root: string;
  readonly #frameAncestors: readonly string[];
  #files: ReadonlyMap<string, StaticFile> | undefined;

  /** @param frameAncestors origins whose pages may embed the dashboard; none by default. */
  constructor(frameAncestors: readonly string[], root = builtAt) {
    this.#root = root;
    this.#frameAncestors = frameAncestors;
  }

  /** Whether a path is one of the interface. */
  has(path: string): boolean {
    return isPagePath(path) || movedPath(path) !== undefined || path.startsWith('/assets/');
  }

  /** Answers GET and HEAD of a path that `has`. */
  respond(request: IncomingMessage, response: ServerResponse, path: string): void {
    const moved = movedPath(path);
    if (moved !== undefined) {
      const [, query] = (request.url ?? '').split('?', 2);
      const location = query === undefined ? moved : `${moved}?${query}`;
      response.writeHead(308, { ...safety, location, 'cache-control': 'no-cache' }).end();
      return;
    }
    this.#files ??= readFiles(this.#root);
    // All pages are the same file, which reads the address.
    const name = path.startsWith('/assets/') ? path.slice(1) : 'index.html';
    const file = this.#files.get(name);
    if (file === undefined) {
      const text =
        name === 'index.html'
          ? 'The dashboard is not built: run node bin/prepare.js.\n'
          : 'There is no such file.\n';
      response.writeHead(404, {
        ...safety,
        'content-type': 'text/plain',
        'cache-control': 'no-store',
      });
      response.end(text);
      return;
    }
    const headers = { ...safety, ...this.#policy(), ...file.headers, vary: 'accept-encoding' };
    if (request.headers['if-none-match'] === file.headers.etag) {
      response.writeHead(304, headers);
      response.end();
      return;
    }
    const [encoding, body] = encoded(file, request.headers['accept-encoding']);
    response.writeHead(200, {
      ...headers,
      ...(encoding && { 'content-encoding': encoding }),
      'content-length': body.length,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  #policy(): OutgoingHttpHeaders {
    const ancestors = this.#frameAncestors.length === 0 ? "'none'" : this.#frameAncestors.join(' ');
    return {
      'content-security-policy':
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; " +
        `frame-ancestors ${ancestors}`,
    };
  }
}

const safety: OutgoingHttpHeaders = {
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
    const plain = readFileSync(join(root, name));
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

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** The smallest form that the browser takes. */
function encoded(file: StaticFile, accepted: string | string[] | undefined): [string, Buffer] {
  const taken = acceptedEncodings(accepted);
  if (taken.has('br') && file.br !== undefined) return ['br', file.br];
  if (taken.has('gzip') && file.gzip !== undefined) return ['gzip', file.gzip];
  return ['', file.plain];
}
