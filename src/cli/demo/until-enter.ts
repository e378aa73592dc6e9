/**
 * Resolves when a line comes from standard input, or when it is interrupted. Where standard input is closed,
 * only an interruption ends the wait.
 */
export async function untilEnter(stdin: NodeJS.ReadableStream, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      stdin.off('data', onData);
      signal.removeEventListener('abort', end);
      stdin.pause();
      resolve();
    };
    const onData = (data: Buffer | string) => {
      if (/[\r\n]/.test(String(data))) end();
    };
    stdin.on('data', onData);
    signal.addEventListener('abort', end);
  });
}
