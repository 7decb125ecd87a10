// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import { App } from './app';
import { followTheme } from './store';

followTheme();
render(<App />, document.getElementById('app')!);
