/**
 * Long work in short pieces: whoever works through thousands of items asks `due` between them, so
 * that everything else in the event loop has its turn.
 */
import type { Clock } from './ports.ts';

export interface Turns {
  /** True when the present piece has been long enough. */
  due(): boolean;
  /** Lets everything else have its turn and begins the next piece. */
  take(): Promise<void>;
}

/** Several pieces of different work may meet in one turn, which shall stay below 20 ms. */
const PIECE_MS = 4;

export function createTurns({ now, turn }: Pick<Clock, 'now' | 'turn'>): Turns {
  let ends = now() + PIECE_MS;
  return {
    due: () => now() >= ends,
    async take() {
      await turn();
      ends = now() + PIECE_MS;
    },
  };
}

/** Work in one piece, where nobody waits for a turn. */
export const noTurns: Turns = { due: () => false, take: async () => {} };
