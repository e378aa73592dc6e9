import { homedir } from 'node:os';
import { join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where downloads are kept, outside any checkout: `TAILMARK_CACHE_DIR`, or `tailmark` in the cache
 * directory of the user (XDG Base Directory Specification; ~/Library/Caches on macOS). A relative
 * XDG_CACHE_HOME is ignored, as that specification demands.
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
