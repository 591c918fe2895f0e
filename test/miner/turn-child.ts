/**
 * Claims a turn for a block as the miner does, reports it, and waits to be killed before anything is
 * broadcast.
 */
import { openJournal } from '../../src/adapters/journal.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { UsedSlots } from '../../src/miner/used-slots.ts';
import { quiet } from '../chain/chain-harness.ts';

const [path = '', turn = ''] = process.argv.slice(2);
await new UsedSlots(openJournal({ path }), quiet).claim(turn, utf8(`block of ${turn}`));
process.stdout.write('noted\n');
setInterval(() => {}, 1000);
