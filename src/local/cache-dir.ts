import { homedir } from 'node:os';
import { join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Directory of downloads: `TAILMARK_CACHE_DIR`, or `tailmark` in the user's cache directory (XDG Base
 * Directory Specification; ~/Library/Caches on macOS). As that specification demands, a relative
 * XDG_CACHE_HOME is ignored.
 */
export function cacheDir(env: Environment, platform: NodeJS.Platform = process.platform): string {
  const own = env.TAILMARK_CACHE_DIR;
  if (own !== undefined && own !== '') return own;
  const xdg = env.XDG_CACHE_HOME;
  if (xdg?.startsWith('/')) return join(xdg, 'tailmark');
  const home = env.HOME || homedir();
  return platform === 'darwin'
    ? join(home, 'Library', 'Caches', 'tailmark')
    : join(home, '.cache', 'tailmark');
}
