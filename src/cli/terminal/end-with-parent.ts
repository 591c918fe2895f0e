/** A process that `platform-node dev` has started ends with that process, however that one ends. */
export function endWithParent(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}
