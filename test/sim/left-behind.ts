/**
 * What of the machine a run still holds, such as `Timeout` or `TCPSocketWrap`, in words; empty where
 * that is nothing.
 *
 * @param before what `process.getActiveResourcesInfo()` said before the first run of the thread.
 * @param after what it says now.
 */
export function leftBehind(before: readonly string[], after: readonly string[]): string {
  const known = [...before];
  const left = after.filter((name) => {
    // The scheduler's own turns of the event loop, and the port that the worker is spoken to by.
    if (name === 'Immediate' || name === 'MessagePort') return false;
    const at = known.indexOf(name);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
  return left.join(', ');
}
