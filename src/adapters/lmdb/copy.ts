/**
 * A copy of the file of a store as it is at one moment. Another process may have the store open and
 * go on writing; pages that the copy needs are not reused until it is done.
 */
import { makeFolder } from '../folders.ts';
import { type EnvironmentOptions, typed } from './environment.ts';
import { openReading } from './reading.ts';

/**
 * Rejects with StoreCorruptError where LMDB finds damage; whoever opens the copy checks it in full.
 * `room` gets the number of bytes before anything is written.
 */
export async function copyStore(
  options: EnvironmentOptions,
  to: string,
  room: (bytes: number) => Promise<void> = async () => {},
): Promise<void> {
  const reading = await openReading(options);
  try {
    const { pages, pageBytes } = await reading.use();
    await room(pages * pageBytes);
    makeFolder(to, 0o700);
    await reading.root.backup(to, false);
  } catch (cause) {
    throw typed(options.folder, cause);
  } finally {
    await reading.close();
  }
}
