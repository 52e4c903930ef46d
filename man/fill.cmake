# cmake -DDIAGNOSE=BINARY -DIN=TEMPLATE -DOUT=FILE -P fill.cmake: replace each line @GENERATE what@ by what the program
# prints for --generate what.
file(READ ${IN} text)
string(REGEX MATCHALL "@GENERATE [a-z:]+@" marks "${text}")
foreach(mark IN LISTS marks)
  string(REGEX REPLACE "@GENERATE ([a-z:]+)@" "\\1" what ${mark})
  execute_process(COMMAND ${DIAGNOSE} --generate ${what} OUTPUT_VARIABLE part COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "${mark}\n" "${part}" text "${text}")
endforeach()
file(WRITE ${OUT} "${text}")
