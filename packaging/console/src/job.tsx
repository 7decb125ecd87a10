// SPDX-License-Identifier: Apache-2.0
// One job: its tabs, and its rounds.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useGet } from './api';
import { AuditTable } from './audit';
import { Actions, give } from './command';
import { ConfigurationEditor } from './configuration';
import { at, toJob, toRemovedJobs, toRounds, type JobDetail } from './data';
import { DeadLettersTable } from './dead_letters';
import { HistoryTable } from './history';
import { Instances } from './instances';
import { Item } from './item';
import { Items } from './items';
import { actionsOnJobs, JobHealth } from './jobs';
import { useChangesOf } from './live';
import { hrefTo } from './store';
import { jobZone } from './time';
import { Timeline } from './timeline';
import { Card, Notice, Time } from './ui';
import { words } from './words';

const tabs = ['overview', 'items', 'instances', 'configuration', 'dead-letters', 'history', 'audit'] as const;

export function JobPage(p: { name: string; tab: string; item: string | undefined }): JSX.Element {
  const t = words();
  const asked = useGet<unknown>(at('jobs', p.name));
  const job = asked.body === undefined ? undefined : toJob(asked.body);
  useChangesOf(p.name, asked.again);
  useEffect(() => {
    jobZone.set(job?.zone ?? '');
    return () => jobZone.set('');
  }, [job?.zone]);
  if (!job || asked.fault?.status === 404) {
    if (!asked.fault)
      return (
        <p class="muted" role="status">
          {t.loading}
        </p>
      );
    if (asked.fault.status === 404) return <MissingJob name={p.name} again={asked.again} />;
    return (
      <Notice tone="bad">
        {asked.fault.message} <a href={hrefTo(['jobs'])}>{t.toJobs}</a>
      </Notice>
    );
  }
  const titles: Record<string, string> = {
    overview: t.overview,
    items: `${t.items} ${job.itemCount}`,
    instances: `${t.instances} ${job.instanceCount}`,
    configuration: t.configuration,
    'dead-letters': t.deadLetters,
    history: t.history,
    audit: t.audit,
  };
  return (
    <>
      <div class="head">
        <nav aria-label={t.jobs}>
          <a href={hrefTo(['jobs'])}>{t.jobs}</a> <span aria-hidden="true">/</span>
        </nav>
        <h1 class="wrap">{p.name}</h1>
        <JobHealth job={job} />
        <span class="grow" />
        {p.item === undefined && ( // else the page has those of the item
          <div class="row">
            <Actions
              all={actionsOnJobs(
                t,
                [
                  'trigger',
                  job.isPaused ? 'resume' : 'pause',
                  job.health === 'disabled' || job.status === 'disabled' ? 'enable' : 'disable',
                  'shut-down',
                  'remove',
                ],
                (a) => give({ ...a, subjects: [p.name], done: asked.again }),
              )}
            />
          </div>
        )}
      </div>
      <nav class="tabs" aria-label={p.name}>
        {tabs.map((tab) => (
          <a
            key={tab}
            href={hrefTo(['jobs', p.name, ...(tab === 'overview' ? [] : [tab])])}
            aria-current={p.tab === tab ? 'page' : undefined}
          >
            {titles[tab]}
          </a>
        ))}
      </nav>
      {job.fault && <Notice tone="bad">{job.fault}</Notice>}
      {p.tab === 'overview' && <Overview job={job} />}
      {p.tab === 'items' &&
        (p.item === undefined ? <Items job={job} /> : <Item key={p.item} job={job} item={p.item} />)}
      {p.tab === 'instances' && <Instances job={job} />}
      {p.tab === 'configuration' && <ConfigurationEditor name={p.name} />}
      {p.tab === 'dead-letters' && <DeadLettersTable job={p.name} />}
      {p.tab === 'history' && <HistoryTable job={p.name} />}
      {p.tab === 'audit' && <AuditTable job={p.name} />}
    </>
  );
}

/** There is no such job, perhaps because it was removed. */
function MissingJob(p: { name: string; again(): void }): JSX.Element {
  const t = words();
  const asked = useGet<unknown>(at('removed-jobs'));
  const removed = toRemovedJobs(asked.body).find((r) => r.name === p.name);
  return (
    <Notice tone="bad">
      <div class="row">
        <span class="grow wrap">
          {removed ? (
            <>
              {t.wasRemoved(p.name)} <Time at={removed.since} distance />
            </>
          ) : (
            t.jobMissing(p.name)
          )}
        </span>
        {removed && (
          <>
            <a href={hrefTo(['audit'], { job: p.name })}>{t.audit}</a>
            <Actions
              all={actionsOnJobs(t, ['restore'], (a) => give({ ...a, subjects: [p.name], done: asked.again }))}
            />
          </>
        )}
        <a href={hrefTo(['jobs'])}>{t.toJobs}</a>
      </div>
    </Notice>
  );
}

function Overview(p: { job: JobDetail }): JSX.Element {
  const t = words();
  const { job } = p;
  const rounds = useGet<unknown>(at('jobs', job.name, 'rounds'));
  useChangesOf(job.name, rounds.again);
  return (
    <div class="cards">
      <Card title={t.timeline} wide>
        {rounds.fault ? (
          <p class="muted">{rounds.fault.message}</p>
        ) : rounds.body === undefined ? (
          <p class="muted">{t.loading}</p>
        ) : (
          <Timeline rounds={toRounds(rounds.body)} zone={job.zone} />
        )}
      </Card>
      <Card title={t.facts}>
        <dl class="facts">
          <dt>{t.cron}</dt>
          <dd class="mono">{job.schedule || '–'}</dd>
          {job.inWords && (
            <>
              <dt>{t.inWords}</dt>
              <dd>{job.inWords}</dd>
            </>
          )}
          <dt>{t.zone}</dt>
          <dd>{job.zone || '–'}</dd>
          <dt>{t.items}</dt>
          <dd>
            <a href={hrefTo(['jobs', job.name, 'items'])}>{job.itemCount}</a>
          </dd>
          <dt>{t.instances}</dt>
          <dd>
            <a href={hrefTo(['jobs', job.name, 'instances'])}>{job.instanceCount}</a>
          </dd>
          <dt>{t.health}</dt>
          <dd>{t.healthHints[job.health] ?? job.health}</dd>
          <dt>{t.description}</dt>
          <dd>{job.description || '–'}</dd>
        </dl>
      </Card>
      <Card title={t.nextDues}>
        {job.dues.length ? (
          <ol>
            {job.dues.map((due) => (
              <li key={due}>
                <Time at={due} zone={job.zone} distance />
              </li>
            ))}
          </ol>
        ) : (
          <p class="muted">{t.neverDue}</p>
        )}
      </Card>
    </div>
  );
}
