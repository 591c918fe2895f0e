/** A long list does not keep other requests waiting while it is printed. */
import t from 'tap';
import { printedRows } from '../../../src/data-service/api/printed-rows.ts';

const ROWS = Array.from({ length: 50 }, (_, n) => n);
/** Of one turn. */
const PIECE_MS_MAX = 5;

t.test('rows that take long to print', async (t) => {
  let [now, turns] = [0, 0];
  const clock = {
    monotonic: () => now,
    turn: async () => {
      turns++;
    },
  };
  const turnOf: number[] = [];
  const shape = (n: number) => {
    now++;
    turnOf.push(turns);
    return { n };
  };
  const printed = await printedRows(ROWS, shape, clock);
  t.strictSame(
    JSON.parse(Buffer.from(printed).toString()),
    ROWS.map((n) => ({ n })),
  );
  const ofEach = Object.values(Object.groupBy(turnOf, (turn) => turn));
  t.ok(ofEach.every((rows) => rows!.length <= PIECE_MS_MAX));
  t.equal(Buffer.from(await printedRows([], shape, clock)).toString(), '[]');
});
