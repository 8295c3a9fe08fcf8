-- The projects and issues of a tracker, whole, from their stage. A project has the name that its
-- latest issue gives it.
DELETE FROM audit.issue WHERE source_id = current_setting('gpu_audit.source_id')::int;
DELETE FROM audit.project WHERE source_id = current_setting('gpu_audit.source_id')::int;

INSERT INTO audit.project (source_id, key, name)
SELECT DISTINCT ON (project_key) current_setting('gpu_audit.source_id')::int, project_key, project_name
FROM stage_issue
ORDER BY project_key, project_name IS NULL, updated DESC NULLS LAST, seq DESC;

INSERT INTO audit.issue (source_id, key, project_key, project, summary, issue_type, status, status_category, team, cost_centre,
                         assignee, labels, created, updated, resolved)
SELECT current_setting('gpu_audit.source_id')::int, key, project_key, project, summary, issue_type, status, status_category,
       team, cost_centre, assignee,
       CASE WHEN labels IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(labels)) END,
       created, updated, resolved
FROM stage_issue
