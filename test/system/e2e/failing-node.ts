/** A node in a separate process, one service of which throws after it has started. */
import { loadConfig } from '../../../src/cli/config-file.ts';
import { runNode } from '../../../src/cli/run-node.ts';
import { exitCodeFor } from '../../../src/cli/terminal/failure.ts';

const { config } = await loadConfig(process.argv[2]);
const node = await runNode(config);
node.log.info('node.started');
node.blockchain.listen({
  block() {
    setImmediate(() => {
      throw new RangeError('a service that throws\nwith a second line');
    });
  },
});
process.exitCode = await node.ended.then(() => 0, exitCodeFor);
