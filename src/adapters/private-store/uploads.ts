/**
 * Places for uploads to a storage. What clients of this node send is whole when it begins; what comes
 * from peers takes as long as they like. So the one does not wait behind the other.
 */
import type { DataSource } from '../../base/ports/private-store.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';

export class Uploads {
  private readonly places: Readonly<Record<DataSource, Semaphore>>;

  /** The most at a time. */
  constructor(most: Readonly<Record<DataSource, number>>) {
    this.places = { client: new Semaphore(most.client), peer: new Semaphore(most.peer) };
  }

  run<T>(work: () => Promise<T>, source: DataSource = 'peer'): Promise<T> {
    return this.places[source].run(work);
  }
}
