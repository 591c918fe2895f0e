/** Limits how many of each protocol run at a time on one session. */
import { Semaphore } from '../../concurrency/semaphore.ts';

export class Semaphores {
  private readonly byProtocol = new Map<string, Semaphore>();

  of(protocol: string, places: number): Semaphore {
    let semaphore = this.byProtocol.get(protocol);
    if (semaphore === undefined) {
      semaphore = new Semaphore(places);
      this.byProtocol.set(protocol, semaphore);
    }
    return semaphore;
  }
}
