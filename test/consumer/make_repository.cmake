# SPDX-License-Identifier: Apache-2.0
# cmake -DGIT= -DARCHIVE= -DREPOSITORY= -P make_repository.cmake: commits the archive's files to a new repository.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${REPOSITORY})
file(ARCHIVE_EXTRACT INPUT ${ARCHIVE} DESTINATION ${REPOSITORY})
set(author -c user.name=consumer -c user.email=consumer@example.org -c commit.gpgsign=false)
foreach(command IN ITEMS "init;-q;-b;main" "add;-A" "commit;-q;-m;all")
    execute_process(COMMAND ${GIT} ${author} ${command} WORKING_DIRECTORY ${REPOSITORY} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
