/** A disk that is full, or fails, when a test says so: all that a node of a cluster stores is on it. */
import type { Journal } from '../../src/base/ports/journal.ts';
import type { NodePorts } from '../../src/node/node.ts';

export interface FailingDisk {
  /** Every write fails so; undefined: the disk works. */
  fault: string | undefined;
  /** What the node is told about its space. */
  freeBytes: number;
  /** Failed writes of blocks so far. */
  refused: number;
  /** For `StartOptions.around`. */
  readonly around: (ports: NodePorts) => NodePorts;
}

export const ENOUGH_BYTES = 2 ** 40;

/** What Node makes of an error of the system. */
const systemError = (code: string): Error =>
  Object.assign(new Error(`${code}: of the disk, write`), { code, errno: -1, syscall: 'write' });

export function failingDisk(): FailingDisk {
  const check = (): void => {
    if (disk.fault !== undefined) throw systemError(disk.fault);
  };
  const onDisk = (journal: Journal): Journal => ({
    recovered: journal.recovered,
    async append(record) {
      check();
      return journal.append(record);
    },
    async rewrite(records) {
      check();
      return journal.rewrite(records);
    },
    close: () => journal.close(),
  });
  const disk: FailingDisk = {
    fault: undefined,
    freeBytes: ENOUGH_BYTES,
    refused: 0,
    around: (ports) => ({
      ...ports,
      store: {
        ...ports.store,
        async write(writes, landed) {
          if (disk.fault !== undefined) disk.refused++;
          check();
          return ports.store.write(writes, landed);
        },
      },
      journal: onDisk(ports.journal),
      turns: onDisk(ports.turns),
      disk: { freeBytes: async () => disk.freeBytes },
    }),
  };
  return disk;
}
