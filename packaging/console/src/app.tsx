// SPDX-License-Identifier: Apache-2.0
// The frame around all pages.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Problem, problemText, stranger } from './api';
import { AuditPage } from './audit';
import { CommandDialog } from './command';
import { NewJobPage } from './configuration';
import { me, meet, registries, signIn, signOut, streamKinds, streamPath } from './data';
import { DeadLettersPage } from './dead_letters';
import { HistoryPage } from './history';
import { JobPage } from './job';
import { JobsPage } from './jobs';
import { KeysDialog, useKeys } from './keys';
import { follow, isLive } from './live';
import { RegistriesPage } from './registries';
import { RemovedPage } from './removed';
import { ServerPage, ServersPage } from './servers';
import {
  clock,
  clocks,
  hrefTo,
  language,
  languages,
  narrow,
  place,
  theme,
  themes,
  useCell,
  type Cell,
  type Place,
} from './store';
import { Notice, Toasts } from './ui';
import { UpcomingPage } from './upcoming';
import { words } from './words';

export function App(): JSX.Element {
  const t = words();
  const here = useCell(place);
  const all = useCell(registries);
  const live = useCell(isLive);
  const isNarrow = useCell(narrow);
  const who = useCell(me);
  const refusal = useCell(stranger);
  const [fault, setFault] = useState<Problem>();
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  useKeys(() => setHelp(true));

  useEffect(() => {
    if (refusal) return;
    meet().then(
      () => setFault(undefined),
      (e: unknown) => setFault(e instanceof Problem ? e : new Problem(0, '', String(e))),
    );
  }, [refusal]);
  const known = all.find((r) => r.name === here.registry);
  // Until the server has said which registries there are, the address is believed: what it names is asked for at once.
  const shown = known?.name ?? (all.length ? '' : here.registry);
  useEffect(() => {
    if (all.length && !known)
      location.replace('#/' + [all[0]!.name, here.page, ...here.path].map(encodeURIComponent).join('/'));
  }, [all, known]);
  // A stream does not say why it was refused; another request does.
  const askWhy = () => void meet().catch(() => undefined);
  useEffect(() => (shown && !refusal ? follow(streamPath(), streamKinds, askWhy) : undefined), [shown, !refusal]);

  const way = [here.page, ...here.path].join('/');
  const before = useRef(way);
  useEffect(() => {
    const name = here.path[0] ?? titles[here.page] ?? '';
    document.title = `${name}${name && ' · '}elasticjob`;
    if (before.current !== way) main.current?.focus(); // a screen reader goes on with the new page
    before.current = way;
  }, [way, t]);

  const titles: Record<string, string> = {
    jobs: t.jobs,
    servers: t.servers,
    upcoming: t.upcoming,
    'dead-letters': t.deadLetters,
    history: t.history,
    audit: t.audit,
    registries: t.registries,
  };
  return (
    <div class={'frame' + (refusal ? ' closed' : '')}>
      <header class="top">
        <a
          class="skip"
          href={location.hash}
          onClick={(e) => {
            e.preventDefault();
            main.current?.focus();
          }}
        >
          {t.skip}
        </a>
        <a class="brand" href={hrefTo(['jobs'])} aria-label={`${t.appName}: ${t.jobs}`}>
          <svg width="18" height="18" viewBox="0 0 16 16" aria-hidden="true">
            <rect width="16" height="16" rx="3" fill="currentColor" opacity=".16" />
            <path d="M3 4h6v2H3zm4 3h6v2H7zm-2 3h6v2H5z" fill="currentColor" />
          </svg>
          <span>{t.appName}</span>
        </a>
        {all.length > 0 && (
          <select
            aria-label={t.registry}
            value={here.registry}
            onChange={(e) => (location.hash = '#/' + encodeURIComponent(e.currentTarget.value) + '/jobs')}
          >
            {all.map((r) => (
              <option key={r.name} value={r.name}>
                {r.name}
              </option>
            ))}
          </select>
        )}
        {!refusal && (
          <span class={'live' + (live ? '' : ' off')} role="status">
            {live ? t.live : t.notLive}
          </span>
        )}
        <span class="grow" />
        {who.name && (
          <span class="muted small wide-only" title={t.signedInAs(who.name)}>
            {who.name}
          </span>
        )}
        {!refusal && ['password', 'oidc'].includes(who.authentication) && (
          <button
            type="button"
            class="plain"
            onClick={() =>
              void signOut()
                .then(meet)
                .catch(() => undefined)
            }
          >
            {t.signOut}
          </button>
        )}
        {isNarrow ? (
          <details class="settings">
            <summary aria-label={t.settings}>⚙</summary>
            <Choices />
          </details>
        ) : (
          <Choices />
        )}
        <button type="button" class="plain wide-only" aria-label={t.keys} title={t.keys} onClick={() => setHelp(true)}>
          ?
        </button>
      </header>
      <nav class="side" aria-label={t.pages}>
        <ul>
          {Object.entries(titles).map(([page, title]) => (
            <li key={page}>
              <a href={hrefTo([page])} aria-current={here.page === page ? 'page' : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main class="main" tabIndex={-1} ref={main}>
        {refusal ? (
          <SignIn refusal={refusal} />
        ) : fault ? (
          <Notice tone="bad">
            {fault.status ? fault.message : t.unreachable} {fault.status ? '' : fault.message}
          </Notice>
        ) : (
          shown && <Shown key={shown} here={here} />
        )}
      </main>
      <CommandDialog />
      <Toasts />
      {help && <KeysDialog close={() => setHelp(false)} />}
    </div>
  );
}

/** Asks for a password, or leads to who does, as the server wants it; otherwise it says what the server has said. */
function SignIn(p: { refusal: Problem }): JSX.Element {
  const t = words();
  const [operator, setOperator] = useState('');
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  if (p.refusal.details.where === 'sign-in')
    return (
      <div class="card sign-in">
        <h1>{t.signIn}</h1>
        <a class="button" href="sign-in">
          {t.signIn}
        </a>
      </div>
    );
  if (p.refusal.details.where !== 'session') return <Notice tone="bad">{p.refusal.message}</Notice>;
  return (
    <form
      class="card sign-in"
      onSubmit={(e) => {
        e.preventDefault();
        setBusy(true);
        signIn(operator, password).then(
          () => stranger.set(undefined),
          (why: unknown) => {
            setFault(why instanceof Problem ? String(why.details.detail ?? why.message) : problemText(why));
            setPassword('');
            setBusy(false);
          },
        );
      }}
    >
      <h1>{t.signIn}</h1>
      <div class="field">
        <label for="operator">{t.operator}</label>
        <input
          id="operator"
          autocomplete="username"
          required
          value={operator}
          onInput={(e) => setOperator(e.currentTarget.value)}
        />
      </div>
      <div class="field">
        <label for="password">{t.password}</label>
        <input
          id="password"
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={(e) => setPassword(e.currentTarget.value)}
        />
      </div>
      {fault && <Notice tone="bad">{fault}</Notice>}
      <button type="submit" class="primary" disabled={busy}>
        {t.signIn}
      </button>
    </form>
  );
}

function Choices(): JSX.Element {
  const t = words();
  return (
    <div class="choices">
      <Choice label={t.clock} cell={clock} values={clocks} names={t.clocks} />
      <Choice label={t.theme} cell={theme} values={themes} names={t.themes} />
      <Choice label={t.language} cell={language} values={languages} names={{ en: 'English', zh: '中文' }} />
    </div>
  );
}

function Choice<T extends string>(p: {
  label: string;
  cell: Cell<T>;
  values: readonly T[];
  names: Record<T, string>;
}): JSX.Element {
  const value = useCell(p.cell);
  return (
    <select aria-label={p.label} title={p.label} value={value} onChange={(e) => p.cell.set(e.currentTarget.value as T)}>
      {p.values.map((v) => (
        <option key={v} value={v}>
          {p.names[v]}
        </option>
      ))}
    </select>
  );
}

function Shown(p: { here: Place }): JSX.Element {
  const t = words();
  const [first, second, third] = p.here.path;
  switch (p.here.page) {
    case 'jobs':
      return first ? <JobPage key={first} name={first} tab={second ?? 'overview'} item={third} /> : <JobsPage />;
    case 'removed':
      return <RemovedPage />;
    case 'new-job':
      return <NewJobPage />;
    case 'servers':
      return first ? <ServerPage key={first} name={first} /> : <ServersPage />;
    case 'upcoming':
      return <UpcomingPage />;
    case 'dead-letters':
      return <DeadLettersPage />;
    case 'history':
      return <HistoryPage />;
    case 'audit':
      return <AuditPage />;
    case 'registries':
      return <RegistriesPage />;
    default:
      return (
        <Notice tone="bad">
          {t.notFound} <a href={hrefTo(['jobs'])}>{t.toJobs}</a>
        </Notice>
      );
  }
}
