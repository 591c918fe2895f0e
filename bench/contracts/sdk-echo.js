/** The echo contract as the SDK for JavaScript has it, with what TypeScript makes of its decorators. */
Object.defineProperty(exports, '__esModule', { value: true });
require('reflect-metadata');
const { Action, Contract, Param, State } = require('@wavesenterprise/contract-core');

class Echo {
  init() {}

  echo(value) {
    this.state.set('value', value);
  }
}

const { prototype } = Echo;
State(prototype, 'state');
Reflect.defineMetadata('design:paramtypes', [], prototype, 'init');
Action({ onInit: true })(prototype, 'init', {});
Param('value')(prototype, 'echo', 0);
Reflect.defineMetadata('design:paramtypes', [String], prototype, 'echo');
Action(prototype, 'echo', {});
Contract(Echo);
exports.default = Echo;
